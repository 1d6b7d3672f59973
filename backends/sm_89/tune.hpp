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

// 64 KB of slots.
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
  if (t.R < 16 && c != 7) t.stages = 64 * 1024 / (t.workers * t.R * t.N * element_bytes);
  return t;
}

constexpr attention_tuning tune_attention_forward(int d) {
  if (d <= 64) return {2, 128, 64, 8, 1, false, false};
  if (d <= 128) return {2, 64, 64, 4, 1, false, false};
  return {1, 64, 32, 4, 1, false, false};
}

}  // namespace tk::be
