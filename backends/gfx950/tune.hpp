// SPDX-License-Identifier: MIT
// Tile sizes by op, chosen to fit 160 KB of LDS with one block on a compute unit, whose waves then
// have 512 registers each; not measured on a card. LDS gives 64 numbers of 16 bits a clock and the
// matrix cores do 2048 products (CDNA 4 white paper): from 32 products a number on, which are
// M N / (M + N), they are kept busy. Registers do not suffice for that at d 256.
#pragma once
#include "backends/hip/tune.hpp"

namespace tk::be {

constexpr gemm_tuning tune_gemm(int size) {
  return size == 0 ? gemm_tuning{.down = 4,
                                 .across = 1,
                                 .M = 64,
                                 .N = 128,
                                 .K = 32,
                                 .stages = 3,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 128,
                                 .step_cost = 100}
                   : gemm_tuning{.down = 4,
                                 .across = 1,
                                 .M = 32,
                                 .N = 64,
                                 .K = 64,
                                 .stages = 4,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 128,
                                 .step_cost = 55};
}
constexpr attention_tuning tune_attention_forward(int d) {
  if (d <= 64)
    return {
        .workers = 4, .M = 64, .N = 64, .slots = 6, .own_slots = 1, .ahead = false, .turns = false};
  if (d <= 128)
    return {
        .workers = 4, .M = 64, .N = 64, .slots = 4, .own_slots = 1, .ahead = false, .turns = false};
  return {
      .workers = 4, .M = 32, .N = 32, .slots = 4, .own_slots = 1, .ahead = false, .turns = false};
}

}  // namespace tk::be
