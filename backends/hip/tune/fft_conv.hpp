// SPDX-License-Identifier: MIT
// For 64 KB of LDS, and for 160 KB (`roomy`); not measured on a card.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/fft_conv/tuning.hpp"

namespace tk::be {

constexpr fft_conv_tuning tune_fft_conv() {
  constexpr bool roomy = smem_bytes >= 160 * 1024;
  return {.least_N2 = 16,
          .most_N2 = roomy ? 64 : 32,
          .workers = roomy ? 4 : 2,
          .few_points_workers = roomy ? 4 : 2,
          .short_workers = roomy ? 3 : 1};
}

}  // namespace tk::be
