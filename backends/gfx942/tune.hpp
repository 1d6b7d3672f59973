// SPDX-License-Identifier: MIT
// Tile sizes by op, chosen to fit 64 KB of LDS with one block on a compute unit; not measured on a
// card.
#pragma once
#include "backends/hip/tune.hpp"

namespace tk::be {

constexpr gemm_tuning tune_gemm(int size) {
  return size == 0 ? gemm_tuning{4, 1, 32, 128, 16, 3, 1, 8, false, 128, 100}
                   : gemm_tuning{4, 1, 16, 64, 32, 4, 1, 8, false, 128, 55};
}
constexpr attention_tuning tune_attention_forward(int d) {
  if (d <= 64) return {4, 32, 64, 4, 1, false, false};
  if (d <= 128) return {4, 32, 32, 3, 1, false, false};
  return {4, 16, 16, 3, 1, false, false};
}

}  // namespace tk::be
