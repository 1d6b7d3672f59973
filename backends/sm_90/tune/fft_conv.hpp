// SPDX-License-Identifier: MIT
// Factors and two sequences of 16384 points take 160 KB of shared memory. Other sizes have
// not been tried.
#pragma once
#include "ops/fft_conv/tuning.hpp"

namespace tk::be {

constexpr fft_conv_tuning tune_fft_conv() {
  return {
      .least_N2 = 16, .most_N2 = 128, .workers = 2, .few_points_workers = 3, .short_workers = 3};
}

}  // namespace tk::be
