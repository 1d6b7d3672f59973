// SPDX-License-Identifier: MIT
// Tile sizes by op, chosen to fit 64 KB of LDS with one block on a compute unit; not measured on a
// card.
#pragma once
#include "backends/hip/arch.hpp"

namespace tk::be {

// C tiles of workers * M rows by N columns; `large` where enough of them fill the card.
struct gemm_tuning {
  int workers, M, N, K, stages, cluster, group;
  bool turns;
};
constexpr gemm_tuning tune_gemm(bool large) {
  return large ? gemm_tuning{4, 32, 128, 16, 3, 1, 8, false}
               : gemm_tuning{4, 16, 64, 32, 4, 1, 8, false};
}
// Blocks of C that a launch must have before the large tiles pay.
constexpr bool gemm_prefers_large(std::int64_t large_tiles, int multiprocessors) {
  return large_tiles * 4 >= multiprocessors * 3;
}

// What it costs to park the sums of a piece of a tile, or to add a parked one, in steps of the loop
// over k; 0 where tiles are never cut.
inline constexpr int gemm_parking_cost = 0;

// Rows of queries per worker and keys per step.
struct attention_tuning {
  int workers, M, N, slots, own_slots;
  bool ahead, turns;
};
constexpr attention_tuning tune_attention_forward(int d) {
  if (d <= 64) return {4, 32, 64, 4, 1, false, false};
  if (d <= 128) return {4, 32, 32, 3, 1, false, false};
  return {4, 16, 16, 3, 1, false, false};
}

// Rows of N columns, R at a time for each worker, in registers; `stages` slots of R rows for every
// worker, 0 where rows go straight to registers; `hold` keeps 16-bit weights in registers. Class by
// class N grows; class norm_classes is for longer rows, in pieces of N.
struct norm_tuning {
  int workers, R, N, stages;
  bool hold;
};
inline constexpr int norm_classes = 4, norm_tasks_per_unit = 1;
constexpr norm_tuning tune_norm(int c, int) {
  if (c == norm_classes) return {8, 1, 4096, 0, false};
  return {8, 8 >> c, 512 << c, 0, c < 2};  // more in registers would spill
}

}  // namespace tk::be
