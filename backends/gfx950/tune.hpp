// SPDX-License-Identifier: MIT
// Tile sizes by op, chosen to fit 160 KB of LDS with one block on a compute unit, whose waves then
// have 512 registers each; not measured on a card. LDS gives 64 numbers of 16 bits a clock and the
// matrix cores do 2048 products (CDNA 4 white paper): from 32 products a number on, which are
// M N / (M + N), they are kept busy. Registers do not suffice for that at d 256.
#pragma once
#include "backends/hip/tune.hpp"

namespace tk::be {

constexpr gemm_tuning tune_gemm(int size) {
  return size == 0 ? gemm_tuning{4, 1, 64, 128, 32, 3, 1, 8, false, 128, 100}
                   : gemm_tuning{4, 1, 32, 64, 64, 4, 1, 8, false, 128, 55};
}
constexpr attention_tuning tune_attention_forward(int d) {
  if (d <= 64) return {4, 64, 64, 6, 1, false, false};
  if (d <= 128) return {4, 64, 64, 4, 1, false, false};
  return {4, 32, 32, 4, 1, false, false};
}

}  // namespace tk::be
