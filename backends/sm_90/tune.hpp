// SPDX-License-Identifier: MIT
// Tile sizes by op, measured on an H200 (132 SMs, CUDA 13.0).
#pragma once
#include "backends/sm_90/arch.hpp"
#include "ops/tuning.hpp"

namespace tk::be {

// Turns bring 0.8 % at 4096 cubed; two blocks that share what they load of b, 4 % where the card's
// power is what bounds it; 192 columns a quarter where 256 would leave that much of the card idle
// (1000 x 3000 x 8192, 1536 cubed).
inline constexpr int gemm_sizes = 3;
constexpr gemm_tuning tune_gemm(int size) {
  return size == 0   ? gemm_tuning{.down = 2,
                                   .across = 1,
                                   .M = 64,
                                   .N = 256,
                                   .K = 64,
                                   .stages = 4,
                                   .cluster = 2,
                                   .group = 16,
                                   .turns = true,
                                   .out_bytes = 128,
                                   .step_cost = 100}
         : size == 1 ? gemm_tuning{.down = 2,
                                   .across = 1,
                                   .M = 64,
                                   .N = 192,
                                   .K = 64,
                                   .stages = 4,
                                   .cluster = 1,
                                   .group = 16,
                                   .turns = true,
                                   .out_bytes = 64,
                                   .step_cost = 80}
                     : gemm_tuning{.down = 2,
                                   .across = 1,
                                   .M = 64,
                                   .N = 128,
                                   .K = 64,
                                   .stages = 6,
                                   .cluster = 1,
                                   .group = 16,
                                   .turns = true,
                                   .out_bytes = 128,
                                   .step_cost = 61};
}

// What it costs to store the sums of a piece of a tile, or to add stored ones, in steps of the loop
// over k; 0 where tiles are never cut. Cutting brings 2 to 3 % at 8192 cubed, and costs more than
// it brings at 1024 cubed.
inline constexpr int gemm_partial_cost = 5;

// What rows that lie so many bytes apart cost their loads: nothing; a third of a large product,
// where TMA reads one sector more of each 128 bytes (H200, 3072 and 4096 cubed); far more, without
// TMA.
constexpr load_cost gemm_load_cost(std::int64_t bytes) {
  return bytes <= 0 || bytes % 16 != 0 ? load_cost::high
         : bytes % 32 != 0             ? load_cost::some
                                       : load_cost::none;
}

constexpr repack_tuning tune_repack() { return {.workers = 3, .R = 16, .C = 512}; }

// Tiles of a worker: at most 192 registers a lane. d 128: 176 keys and one slot for q are 0 to 2 %
// faster from 8192 keys on, and 2 to 15 % slower below 4096.
constexpr attention_tuning tune_attention_forward(int d) {
  if (d <= 64)
    return {
        .workers = 3, .M = 64, .N = 128, .slots = 10, .own_slots = 2, .ahead = true, .turns = true};
  if (d <= 128)
    return {
        .workers = 2, .M = 64, .N = 128, .slots = 5, .own_slots = 2, .ahead = true, .turns = true};
  return {
      .workers = 2, .M = 64, .N = 80, .slots = 4, .own_slots = 1, .ahead = true, .turns = false};
}

// Rows of up to 128 columns are ordinary tiles; up to 4096 columns a worker has rows of its own, 32
// or 64 numbers in a lane; longer rows are shared. Four workers with half as many rows each wait
// less for one another's sums than two. Class 8, without a ring, is for few rows. More loads on
// their way than memory needs cost time, but long rows stay in the ring from pass to pass.
inline constexpr int norm_classes = 10, norm_tasks_per_unit = 1, norm_ring_bytes = 192 * 1024;
inline constexpr bool norm_in_turn = true;
constexpr bool norm_shifts(int c) { return c == 2 || c == 4 || c == 7 || c >= 9; }
constexpr norm_tuning tune_norm(int c, int element_bytes) {
  if (c == 0)
    return {.workers = 2,
            .R = 64,
            .N = 128,
            .stages = 2,
            .hold = element_bytes == 2 ? 2 : 0,
            .shared = false};
  bool const shared = c > 5, own = c >= 3 && !shared;
  int const workers = own || c == 7 || c == 9 ? 4 : 2;
  int const columns[] = {128, 256, 512, 1024, 2048, 4096, 3072, 2048, 4096, 4096, 4096};
  int const n = columns[c], rows = shared ? 1 : own ? 4096 / n : 8;
  int const in_lane = n / (rows < 4 ? 128 : 32);
  int const ring = c == 8                        ? 0
                   : c < 8 && element_bytes == 2 ? 64 * 1024
                   : c == 3                      ? 128 * 1024
                                                 : norm_ring_bytes;
  bool const holds_fp32 = !own && in_lane <= (workers == 4 ? 16 : 32);
  int const hold = c == norm_classes ? 0 : holds_fp32 ? 4 : 2;
  return {.workers = workers,
          .R = rows,
          .N = n,
          .stages = ring / (workers * rows * n * element_bytes),
          .hold = hold,
          .shared = shared};
}

}  // namespace tk::be
