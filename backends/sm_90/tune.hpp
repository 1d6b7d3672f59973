// SPDX-License-Identifier: MIT
// Tile sizes by op, measured on an H200 (132 SMs, CUDA 13.0).
#pragma once
#include "backends/sm_90/arch.hpp"

namespace tk::be {

// C tiles of workers * M rows by N columns; `large` where enough of them fill the card. `turns`
// puts the workers' products in turn: 0.8 % at 4096 cubed.
struct gemm_tuning {
  int workers, M, N, K, stages, cluster, group;
  bool turns;
};
constexpr gemm_tuning tune_gemm(bool large) {
  return large ? gemm_tuning{2, 64, 256, 64, 4, 1, 16, true}
               : gemm_tuning{2, 64, 128, 64, 6, 1, 16, true};
}
// Blocks of C that a launch must have before the large tiles pay.
constexpr bool gemm_prefers_large(std::int64_t large_tiles, int multiprocessors) {
  return large_tiles * 4 >= multiprocessors * 3;
}

// What it costs to park the sums of a piece of a tile, or to add a parked one, in steps of the loop
// over k; 0 where tiles are never cut. Cutting brings 2 to 3 % at 8192 cubed.
inline constexpr int gemm_parking_cost = 3;

// Rows of queries per worker and keys per step; `ahead` issues the next scores before this step's
// softmax, `turns` puts the workers in turn. Tiles of a worker: at most 192 registers a lane.
struct attention_tuning {
  int workers, M, N, slots, own_slots;
  bool ahead, turns;
};
constexpr attention_tuning tune_attention_forward(int d) {
  if (d <= 64) return {3, 64, 128, 10, 2, true, true};
  if (d <= 128) return {2, 64, 176, 4, 1, true, true};
  return {2, 64, 80, 4, 1, true, false};
}

// Rows of N columns, R at a time for each worker, in registers; `stages` slots of R rows for every
// worker, 0 where rows go straight to registers; `hold` keeps 16-bit weights in registers. Class by
// class N grows; class norm_classes is for longer rows, in pieces of N.
struct norm_tuning {
  int workers, R, N, stages;
  bool hold;
};
inline constexpr int norm_classes = 4, norm_tasks_per_unit = 1;
// 192 KB of slots.
constexpr norm_tuning tune_norm(int c, int element_bytes) {
  int const short_rows = element_bytes == 4 && c < 3 ? 4 >> c : 8 >> c;
  int const rows = c < norm_classes ? short_rows : 1, n = c < norm_classes ? 1024 << c : 4096;
  return {2, rows, n, 96 * 1024 / (rows * n * element_bytes), c < norm_classes};
}

}  // namespace tk::be
