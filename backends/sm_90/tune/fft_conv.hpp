// SPDX-License-Identifier: MIT
// Factors and two sequences of 16384 points take 160 KB of shared memory. As many workers as
// registers allow, but windows side by side before them: of windows of 2048 points three workers
// with four each take 52 us on an H200 where five with two take 70 and six 67, of 4096 points three
// with two 83 where five with one take 91 (2026-11-29). What binds all is shared memory, of whose
// rate they take 0.6 to 0.7, and what a window's steps wait for of one another.
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
