// SPDX-License-Identifier: MIT
// Factors and two sequences of 16384 points take 160 KB of shared memory. As many workers as
// registers allow: of windows of 2048 points, each of three workers with four of them side by side
// took 53 us on an H200 where four or five workers with two took 58, and seven with one 69;
// 2026-11-26.
#pragma once
#include "ops/fft_conv/tuning.hpp"

namespace tk::be {

constexpr fft_conv_tuning tune_fft_conv() {
  return {.least_N2 = 16, .most_N2 = 128, .short_workers = 3, .pairs = true};
}
constexpr fft_worker_tuning tune_fft_workers(int N2, bool pairs) {
  if (N2 <= 16)
    return {.windows = pairs ? 7 : 5,
            .filters = 2,
            .gradients = 2,
            .convolutions = pairs ? 3 : 5,
            .together = pairs ? 4 : 1};
  if (N2 <= 32)
    return {.windows = pairs ? 4 : 3,
            .filters = 2,
            .gradients = 2,
            .convolutions = 3,
            .together = pairs ? 2 : 1};
  int const windows = N2 <= 64 && pairs ? 3 : 2, filters = N2 <= 64 ? 2 : 1;
  return {.windows = windows, .filters = filters, .gradients = filters, .convolutions = windows};
}

}  // namespace tk::be
