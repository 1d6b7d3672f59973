// SPDX-License-Identifier: MIT
// Not measured yet.
#pragma once
#include "ops/fft_conv/tuning.hpp"

namespace tk::be {

constexpr fft_conv_tuning tune_fft_conv() {
  return {.least_N2 = 32, .most_N2 = 64, .short_workers = 1, .pairs = false};
}
constexpr fft_worker_tuning tune_fft_workers(int N2, bool) {
  return {
      .windows = 1, .filters = 1, .gradients = 1, .convolutions = 1, .together = N2 <= 32 ? 2 : 1};
}

}  // namespace tk::be
