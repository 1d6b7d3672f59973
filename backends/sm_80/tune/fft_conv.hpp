// SPDX-License-Identifier: MIT
// A transform of 8192 points and its filter's, in two parts, fit into 99 KB; not measured yet.
#pragma once
#include "ops/fft_conv/tuning.hpp"

namespace tk::be {

constexpr fft_conv_tuning tune_fft_conv() {
  return {.least_N2 = 16, .most_N2 = 64, .short_workers = 2, .pairs = false};
}
constexpr fft_worker_tuning tune_fft_workers(int, bool) {
  return {.windows = 2, .filters = 1, .gradients = 1, .convolutions = 2};
}

}  // namespace tk::be
