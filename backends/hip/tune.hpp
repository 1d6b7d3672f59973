// SPDX-License-Identifier: MIT
// Tile sizes by op: what the chips have in common. Their own sizes are in their tune.hpp, which
// begins with this file: either may be included.
#pragma once
#include "backends/hip/arch.hpp"
#include "ops/tuning.hpp"

namespace tk::be {

// Sizes of gemm's tiles; what a step of each costs is guessed.
inline constexpr int gemm_sizes = 2;

// What it costs to store the sums of a piece of a tile, or to add stored ones, in steps of the loop
// over k; 0 where tiles are never cut.
inline constexpr int gemm_partial_cost = 0;

// What rows that lie so many bytes apart cost their loads: without the widest copies to LDS much.
constexpr load_cost gemm_load_cost(std::int64_t bytes) {
  return bytes % copy_lane_bytes != 0 ? load_cost::high : load_cost::none;
}

constexpr repack_tuning tune_repack() { return {.workers = 4, .R = 8, .C = 512}; }

inline constexpr int norm_classes = 6, norm_tasks_per_unit = 1;
inline constexpr bool norm_in_turn = true;
constexpr bool norm_shifts(int) { return false; }
constexpr norm_tuning tune_norm(int c, int element_bytes) {
  if (c == 0)
    return {
        .workers = 8 / element_bytes, .R = 16, .N = 128, .stages = 2, .hold = 2, .shared = false};
  // More would spill.
  if (c < 5)
    return {.workers = 8,
            .R = c == 3 ? 1 : 16 >> c,
            .N = 256 << c,
            .stages = 0,
            .hold = c < 3 ? 2 : 0,
            .shared = false};
  return {.workers = 8,
          .R = 1,
          .N = c == norm_classes && element_bytes == 4 ? 2048 : 4096,
          .stages = 0,
          .hold = 0,
          .shared = true};
}

}  // namespace tk::be

#include TK_CHIP(tune.hpp)
