// SPDX-License-Identifier: MIT
// Tile sizes by op, chosen for 99 KB of shared memory; not measured yet. The tensor cores of these
// chips do half as much a clock as an A100's or less, with the same bandwidth of shared memory
// (sm_80/tune.hpp), so that 16 rows a warp are enough.
#pragma once
#include "backends/select.hpp"

#include TK_CHIP(arch.hpp)
#include "ops/tuning.hpp"

namespace tk::be {

// `large` where enough of the larger tiles fill the card.
constexpr gemm_tuning tune_gemm(bool large) {
  return large ? gemm_tuning{2, 64, 128, 32, 4, 1, 8, false, 64}
               : gemm_tuning{2, 64, 64, 32, 5, 1, 8, false, 64};
}
// Blocks of C that a launch must have before the large tiles pay.
constexpr bool gemm_prefers_large(std::int64_t large_tiles, int multiprocessors) {
  return large_tiles * 4 >= multiprocessors * 3;
}

// Tiles are not cut along k.
inline constexpr int gemm_parking_cost = 0;

// What rows that lie so many bytes apart cost their loads: without cp.async much.
constexpr load_cost gemm_load_cost(std::int64_t bytes) {
  return bytes % 4 != 0 ? load_cost::high : load_cost::none;
}

constexpr repack_tuning tune_repack() { return {2, 16, 512}; }

// Rows of up to 128 columns are ordinary tiles; up to 8192 (4096 in fp32) 64 numbers of a lane are
// whole rows; class 7, without a ring, is for few rows. Weights stay where they are 64 registers at
// most, beside 64 of rows.
inline constexpr int norm_classes = 9, norm_tasks_per_unit = 1, norm_ring_bytes = 64 * 1024;
inline constexpr bool norm_in_turn = true;
constexpr bool norm_shifts(int c) { return c == 2 || c == 4 || c == 6 || c >= 8; }
constexpr norm_tuning tune_norm(int c, int element_bytes) {
  if (c == 0) return {element_bytes == 2 ? 2 : 1, 64, 128, 2, 2, false};
  bool const shared = c > 6 || (c == 6 && element_bytes == 4);
  int const n = c == 8 ? 8192 : shared ? 4096 : 128 << c;
  int const rows = shared ? 1 : n < 1024 ? 8 : 8192 / n, in_lane = n / (rows < 4 ? 128 : 32);
  int const stages = c == 7 ? 0 : norm_ring_bytes / (2 * rows * n * element_bytes);
  return {2, rows, n, stages, c == norm_classes ? 0 : in_lane <= 32 ? 4 : 2, shared};
}

constexpr attention_tuning tune_attention_forward(int d) {
  if (d <= 64) return {2, 128, 64, 8, 1, false, false};
  if (d <= 128) return {2, 64, 64, 4, 1, false, false};
  return {1, 64, 32, 4, 1, false, false};
}

}  // namespace tk::be
