// SPDX-License-Identifier: MIT
// Tile sizes by op, chosen to fit 64 KB of LDS with one block on a compute unit; not measured on a
// card.
#pragma once
#include "backends/hip/tune.hpp"

namespace tk::be {

constexpr gemm_tuning tune_gemm(int size) {
  return size == 0 ? gemm_tuning{.down = 4,
                                 .across = 1,
                                 .M = 32,
                                 .N = 128,
                                 .K = 16,
                                 .stages = 3,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 128,
                                 .step_cost = 100}
                   : gemm_tuning{.down = 4,
                                 .across = 1,
                                 .M = 16,
                                 .N = 64,
                                 .K = 32,
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
        .workers = 4, .M = 32, .N = 64, .slots = 4, .own_slots = 1, .ahead = false, .turns = false};
  if (d <= 128)
    return {
        .workers = 4, .M = 32, .N = 32, .slots = 3, .own_slots = 1, .ahead = false, .turns = false};
  return {
      .workers = 4, .M = 16, .N = 16, .slots = 3, .own_slots = 1, .ahead = false, .turns = false};
}

}  // namespace tk::be
