// SPDX-License-Identifier: MIT
// Tile sizes by op, measured on a Xeon of the fourth generation (AVX-512, 48 KB L1, 2 MB L2 per
// core).
#pragma once
#include "backends/host/arch.hpp"

namespace tk::be {

// C tiles of M rows by N columns; `large` where enough of them keep the cores busy.
struct gemm_tuning {
  int workers, M, N, K, stages, cluster, group;
  bool turns;
};
constexpr gemm_tuning tune_gemm(bool large) {
  return large ? gemm_tuning{1, 128, 256, 256, 2, 1, 8, false}
               : gemm_tuning{1, 32, 64, 128, 2, 1, 8, false};
}
// Blocks of C that a launch must have before the large tiles pay.
constexpr bool gemm_prefers_large(std::int64_t large_tiles, int multiprocessors) {
  return large_tiles >= 2 * multiprocessors;
}

// Tiles are never cut along k: what that would cost, in steps.
inline constexpr int gemm_parking_cost = 0;

// Rows of queries and keys per step. Nothing runs ahead of anything.
struct attention_tuning {
  int workers, M, N, slots, own_slots;
  bool ahead, turns;
};
constexpr attention_tuning tune_attention_forward(int) { return {1, 128, 128, 2, 1, false, false}; }

// Rows of N columns, R at a time for each worker, in registers; `stages` slots of R rows for every
// worker, 0 where rows go straight to registers; `hold` keeps 16-bit weights in registers. Class by
// class N grows; class norm_classes is for longer rows, in pieces of N.
struct norm_tuning {
  int workers, R, N, stages;
  bool hold;
};
inline constexpr int norm_classes = 3, norm_tasks_per_unit = 4;
constexpr norm_tuning tune_norm(int c, int) {
  return {1, 1, c == norm_classes ? 8192 : 128 << 3 * c, 0, true};
}

}  // namespace tk::be
