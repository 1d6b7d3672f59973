// SPDX-License-Identifier: MIT
// A transform of 8192 points and its filter's, in two parts, fit into 99 KB; not measured yet.
#pragma once
#include "ops/fft_conv/tuning.hpp"

namespace tk::be {

constexpr fft_conv_tuning tune_fft_conv() {
  return {.least_N2 = 16, .most_N2 = 64, .workers = 2, .few_points_workers = 2, .short_workers = 2};
}

}  // namespace tk::be
