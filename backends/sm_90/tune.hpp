// SPDX-License-Identifier: MIT
// Tile sizes by op, measured on an H200 (132 SMs, CUDA 13.0).
#pragma once
#include "backends/sm_90/arch.hpp"
#include "ops/tuning.hpp"

namespace tk::be {

// `large` where enough of the larger tiles fill the card. Turns bring 0.8 % at 4096 cubed.
constexpr gemm_tuning tune_gemm(bool large) {
  return large ? gemm_tuning{2, 64, 256, 64, 4, 1, 16, true, 128}
               : gemm_tuning{2, 64, 128, 64, 6, 1, 16, true, 128};
}
// Blocks of C that a launch must have before the large tiles pay.
constexpr bool gemm_prefers_large(std::int64_t large_tiles, int multiprocessors) {
  return large_tiles * 4 >= multiprocessors * 3;
}

// What it costs to park the sums of a piece of a tile, or to add a parked one, in steps of the loop
// over k; 0 where tiles are never cut. Cutting brings 2 to 3 % at 8192 cubed.
inline constexpr int gemm_parking_cost = 3;

// What rows that lie so many bytes apart cost their loads: nothing; a third of a large product,
// where TMA reads one sector more of each 128 bytes (H200, 3072 and 4096 cubed); far more, without
// TMA.
constexpr load_cost gemm_load_cost(std::int64_t bytes) {
  return bytes <= 0 || bytes % 16 != 0 ? load_cost::high
         : bytes % 32 != 0             ? load_cost::some
                                       : load_cost::none;
}

constexpr repack_tuning tune_repack() { return {3, 16, 512}; }

// Tiles of a worker: at most 192 registers a lane. d 128: 176 keys and one slot for q are 0 to 2 %
// faster from 8192 keys on, and 2 to 15 % slower below 4096.
constexpr attention_tuning tune_attention_forward(int d) {
  if (d <= 64) return {3, 64, 128, 10, 2, true, true};
  if (d <= 128) return {2, 64, 128, 5, 2, true, true};
  return {2, 64, 80, 4, 1, true, false};
}

inline constexpr int norm_classes = 9, norm_tasks_per_unit = 1;
inline constexpr bool norm_in_turn = true;
inline constexpr int norm_ring_bytes = 192 * 1024;
constexpr norm_tuning tune_norm(int c, int element_bytes) {
  constexpr norm_tuning of_16_bits[] = {{2, 64, 128, 2, 2, false}, {2, 8, 256, 0, 4, false},
                                        {2, 8, 512, 0, 4, false},  {2, 8, 1024, 0, 2, false},
                                        {2, 4, 2048, 0, 2, false}, {2, 2, 4096, 0, 4, false},
                                        {2, 1, 4096, 0, 2, true},  {2, 1, 4096, 0, 4, true},
                                        {2, 1, 8192, 0, 2, true},  {2, 1, 4096, 0, 0, true}};
  constexpr norm_tuning of_32_bits[] = {{2, 64, 128, 2, 0, false}, {2, 8, 256, 0, 4, false},
                                        {2, 8, 512, 0, 4, false},  {2, 4, 1024, 0, 4, false},
                                        {2, 4, 2048, 0, 0, false}, {2, 2, 4096, 0, 4, false},
                                        {2, 1, 4096, 0, 4, true},  {2, 1, 4096, 0, 4, true},
                                        {2, 1, 8192, 0, 0, true},  {2, 1, 4096, 0, 0, true}};
  norm_tuning t = element_bytes == 2 ? of_16_bits[c] : of_32_bits[c];
  // Few rows need no ring: class 7.
  if (t.R < 16 && c != 7) t.stages = norm_ring_bytes / (t.workers * t.R * t.N * element_bytes);
  return t;
}

}  // namespace tk::be
