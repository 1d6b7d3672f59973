// SPDX-License-Identifier: MIT
// Not measured yet.
#pragma once
#include "ops/fft_conv/tuning.hpp"

namespace tk::be {

constexpr fft_conv_tuning tune_fft_conv() {
  return {.least_N2 = 32, .most_N2 = 64, .workers = 1, .few_points_workers = 1, .short_workers = 1};
}

}  // namespace tk::be
