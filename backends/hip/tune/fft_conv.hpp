// SPDX-License-Identifier: MIT
// For 64 KB of LDS, and for 160 KB; not measured on a card.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/fft_conv/tuning.hpp"

namespace tk::be {

// Whether a block has the memory of gfx950's.
inline constexpr bool fft_is_roomy = smem_bytes >= 160 * 1024;

constexpr fft_conv_tuning tune_fft_conv() {
  return {.least_N2 = 16,
          .most_N2 = fft_is_roomy ? 64 : 32,
          .short_workers = fft_is_roomy ? 3 : 1,
          .pairs = false};
}
constexpr fft_worker_tuning tune_fft_workers(int, bool) {
  constexpr int windows = fft_is_roomy ? 4 : 2;
  return {.windows = windows, .filters = 1, .gradients = 1, .convolutions = windows};
}

}  // namespace tk::be
