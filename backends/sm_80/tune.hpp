// SPDX-License-Identifier: MIT
// Tile sizes by op, chosen for 163 KB of shared memory and 255 registers a lane, and measured with
// this code on an H200 (CUDA 13.0), where steps of 64 k bring gemm a fifth more than steps of 32.
// What bounds them is shared memory's 128 bytes a clock. A warp that has r rows and N columns of a
// product reads 2 / r + 2 / N bytes for each multiplication (B once for its r rows, A once for its
// columns), and copies write 2 / rows + 2 / columns of the block's tile. The tensor cores of an
// A100 do 1024 multiplications a clock:
//   gemm, 32 x 128 a warp, 256 x 128 a block   0.078 + 0.023 = 0.102, 104 bytes a clock (81 %)
//   gemm, 16 x 256 a warp, 128 x 256 a block   0.133 + 0.023 = 0.156, 160 bytes a clock
//   attention, 32 rows a warp, N = 64          q k^T 0.094, p v (p in registers) 0.063
//   attention, 16 rows a warp, N = 64          q k^T 0.156, p v 0.125
#pragma once
#include "backends/sm_80/arch.hpp"
#include "ops/tuning.hpp"

namespace tk::be {

// `large` where enough of the larger tiles fill the card.
constexpr gemm_tuning tune_gemm(bool large) {
  return large ? gemm_tuning{2, 128, 128, 64, 3, 1, 8, false, 64}
               : gemm_tuning{2, 64, 128, 64, 4, 1, 8, false, 64};
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

// 128 KB of slots.
inline constexpr int norm_classes = 9, norm_tasks_per_unit = 1;
inline constexpr bool norm_in_turn = true;
constexpr norm_tuning tune_norm(int c, int element_bytes) {
  constexpr norm_tuning of_16_bits[] = {{2, 64, 128, 2, 2, false}, {2, 8, 256, 0, 4, false},
                                        {2, 8, 512, 0, 4, false},  {2, 8, 1024, 0, 2, false},
                                        {2, 4, 2048, 0, 2, false}, {2, 2, 4096, 0, 4, false},
                                        {2, 1, 8192, 0, 2, false}, {2, 1, 4096, 0, 4, true},
                                        {2, 1, 8192, 0, 2, true},  {2, 1, 4096, 0, 0, true}};
  constexpr norm_tuning of_32_bits[] = {{1, 64, 128, 2, 4, false}, {2, 8, 256, 0, 4, false},
                                        {2, 8, 512, 0, 4, false},  {2, 4, 1024, 0, 4, false},
                                        {2, 4, 2048, 0, 0, false}, {2, 2, 4096, 0, 4, false},
                                        {2, 1, 4096, 0, 4, true},  {2, 1, 4096, 0, 4, true},
                                        {2, 1, 8192, 0, 0, true},  {2, 1, 4096, 0, 0, true}};
  norm_tuning t = element_bytes == 2 ? of_16_bits[c] : of_32_bits[c];
  // Few rows need no ring: class 7.
  if (t.R < 16 && c != 7) t.stages = 128 * 1024 / (t.workers * t.R * t.N * element_bytes);
  return t;
}

constexpr attention_tuning tune_attention_forward(int d) {
  if (d <= 64) return {2, 128, 128, 6, 1, false, false};
  if (d <= 128) return {2, 128, 64, 4, 1, false, false};
  return {2, 64, 64, 3, 1, false, false};
}

}  // namespace tk::be
