// SPDX-License-Identifier: MIT
// Tile sizes by op, chosen for 163 KB of shared memory (`roomy`) and for 99 KB. The former are
// measured with this code on an H200 (CUDA 13.0), the latter are not yet. What bounds them is
// shared memory's 128 bytes a clock. A warp that has r rows and N columns of a product reads 2 / r
// + 2 / N bytes for each multiplication (B once for its r rows, A once for its columns), and copies
// write 2 / rows + 2 / columns of the block's tile. The tensor cores of an A100 do 1024
// multiplications a clock:
//   gemm, 64 x 64 a warp, 256 x 128 a block    0.063 + 0.023 = 0.086, 88 bytes a clock (69 %)
//   gemm, 32 x 128 a warp, 256 x 128 a block   0.078 + 0.023 = 0.102, 104 bytes a clock (81 %)
//   attention, 32 rows a warp, N = 64          q k^T 0.094, p v (p in registers) 0.063
//   attention, 16 rows a warp, N = 64          q k^T 0.156, p v 0.125
// Those of chips with less room do half as much or less, so that 16 rows a warp are enough.
#pragma once
#include "backends/select.hpp"
#include "ops/tuning.hpp"

#include TK_CHIP(arch.hpp)

namespace tk::be {

inline constexpr bool roomy = smem_bytes >= 163 * 1024;

// Steps of 64 k take whole lines from the L2 cache, which costs less power than halves of them: 6 %
// at 8192 cubed, where that is the bound. A step's cost is guessed: a small tile takes a tenth more
// for each product.
inline constexpr int gemm_sizes = 2;
constexpr gemm_tuning tune_gemm(int size) {
  if (!roomy)
    return size == 0 ? gemm_tuning{.down = 1,
                                   .across = 2,
                                   .M = 128,
                                   .N = 64,
                                   .K = 32,
                                   .stages = 5,
                                   .cluster = 1,
                                   .group = 8,
                                   .turns = false,
                                   .out_bytes = 64,
                                   .step_cost = 100}
                     : gemm_tuning{.down = 1,
                                   .across = 2,
                                   .M = 64,
                                   .N = 64,
                                   .K = 32,
                                   .stages = 5,
                                   .cluster = 1,
                                   .group = 8,
                                   .turns = false,
                                   .out_bytes = 64,
                                   .step_cost = 55};
  return size == 0 ? gemm_tuning{.down = 1,
                                 .across = 2,
                                 .M = 256,
                                 .N = 64,
                                 .K = 64,
                                 .stages = 3,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 64,
                                 .step_cost = 100}
                   : gemm_tuning{.down = 1,
                                 .across = 2,
                                 .M = 128,
                                 .N = 64,
                                 .K = 64,
                                 .stages = 4,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 128,
                                 .step_cost = 55};
}

// What it costs to store the sums of a piece of a tile, or to add stored ones, in steps of the loop
// over k. Cutting brings 2 % at 8192 cubed.
inline constexpr int gemm_partial_cost = 3;

// What rows that lie so many bytes apart cost their loads: without cp.async much.
constexpr load_cost gemm_load_cost(std::int64_t bytes) {
  return bytes % 4 != 0 ? load_cost::high : load_cost::none;
}

constexpr repack_tuning tune_repack() { return {.workers = 2, .R = 16, .C = 512}; }

// Rows of up to 128 columns are ordinary tiles; up to 8192 (4096 in fp32) 64 numbers of a lane are
// whole rows; class 7, without a ring, is for few rows. Weights stay where they are 64 registers at
// most, beside 64 of rows.
inline constexpr int norm_classes = 9, norm_tasks_per_unit = 1;
inline constexpr int norm_ring_bytes = (roomy ? 128 : 64) * 1024;
inline constexpr bool norm_in_turn = true;
constexpr bool norm_shifts(int c) { return c == 2 || c == 4 || c == 6 || c >= 8; }
constexpr norm_tuning tune_norm(int c, int element_bytes) {
  if (c == 0)
    return {.workers = element_bytes == 2 ? 2 : 1,
            .R = 64,
            .N = 128,
            .stages = 2,
            .hold = 2,
            .shared = false};
  bool const small = element_bytes == 2, shared = c > 6 || (c == 6 && !small);
  int const n = c == 8 && small ? 8192 : shared ? 4096 : 128 << c;
  int const rows = shared ? 1 : n < 1024 ? 8 : 8192 / n, in_lane = n / (rows < 4 ? 128 : 32);
  int const stages = c == 7 ? 0 : norm_ring_bytes / (2 * rows * n * element_bytes);
  if (c >= 8)
    return {.workers = 2,
            .R = rows,
            .N = n,
            .stages = stages,
            .hold = 0,
            .shared = shared};  // more would spill
  int const hold = in_lane > 32 || (c == 5 && !small) ? 2 : 4;
  return {.workers = 2, .R = rows, .N = n, .stages = stages, .hold = hold, .shared = shared};
}

constexpr attention_tuning tune_attention_forward(int d) {
  if (!roomy) {
    if (d <= 64)
      return {.workers = 2,
              .M = 128,
              .N = 64,
              .slots = 8,
              .own_slots = 1,
              .ahead = false,
              .turns = false};
    if (d <= 128)
      return {.workers = 2,
              .M = 64,
              .N = 64,
              .slots = 4,
              .own_slots = 1,
              .ahead = false,
              .turns = false};
    return {
        .workers = 1, .M = 64, .N = 32, .slots = 4, .own_slots = 1, .ahead = false, .turns = false};
  }
  if (d <= 64)
    return {.workers = 2,
            .M = 128,
            .N = 128,
            .slots = 6,
            .own_slots = 1,
            .ahead = false,
            .turns = false};
  if (d <= 128)
    return {.workers = 2,
            .M = 128,
            .N = 64,
            .slots = 4,
            .own_slots = 1,
            .ahead = false,
            .turns = false};
  return {
      .workers = 2, .M = 64, .N = 64, .slots = 3, .own_slots = 1, .ahead = false, .turns = false};
}

}  // namespace tk::be
