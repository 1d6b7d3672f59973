// SPDX-License-Identifier: MIT
// Tile sizes by op, measured on a Xeon of the fourth generation (AVX-512, 48 KB L1, 2 MB L2 per
// core).
#pragma once
#include "backends/host/arch.hpp"
#include "ops/tuning.hpp"

namespace tk::be {

// What a step costs is guessed: small tiles take half as long again for each product.
inline constexpr int gemm_sizes = 2;
constexpr gemm_tuning tune_gemm(int size) {
  return size == 0 ? gemm_tuning{.down = 1,
                                 .across = 1,
                                 .M = 128,
                                 .N = 256,
                                 .K = 256,
                                 .stages = 2,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 128,
                                 .step_cost = 320}
                   : gemm_tuning{.down = 1,
                                 .across = 1,
                                 .M = 32,
                                 .N = 64,
                                 .K = 128,
                                 .stages = 2,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 128,
                                 .step_cost = 15};
}

// Tiles are never cut along k: what that would cost, in steps.
inline constexpr int gemm_partial_cost = 0;

// What rows that lie so many bytes apart cost their loads.
constexpr load_cost gemm_load_cost(std::int64_t) { return load_cost::none; }

constexpr repack_tuning tune_repack() { return {.workers = 1, .R = 16, .C = 512}; }

constexpr attention_tuning tune_attention_forward(int) {
  return {
      .workers = 1, .M = 128, .N = 128, .slots = 2, .own_slots = 1, .ahead = false, .turns = false};
}

inline constexpr int norm_classes = 3, norm_tasks_per_unit = 4;
inline constexpr bool norm_in_turn = false;
constexpr bool norm_shifts(int) { return false; }
constexpr norm_tuning tune_norm(int c, int) {
  return {.workers = 1,
          .R = 1,
          .N = c == norm_classes ? 8192 : 128 << 3 * c,
          .stages = 0,
          .hold = 4,
          .shared = false};
}

}  // namespace tk::be
