// SPDX-License-Identifier: MIT
// Tile sizes by op: what the chips have in common. Their own sizes are in their tune.hpp, which
// begins with this file: either may be included.
#pragma once
#include "backends/hip/arch.hpp"

namespace tk::be {

// C tiles of workers * M rows by N columns; `large` where enough of them fill the card.
struct gemm_tuning {
  int workers, M, N, K, stages, cluster, group;
  bool turns;
};
// Blocks of C that a launch must have before the large tiles pay.
constexpr bool gemm_prefers_large(std::int64_t large_tiles, int multiprocessors) {
  return large_tiles * 4 >= multiprocessors * 3;
}

// What it costs to park the sums of a piece of a tile, or to add a parked one, in steps of the loop
// over k; 0 where tiles are never cut.
inline constexpr int gemm_parking_cost = 0;

// Whether loads of rows that lie so many bytes apart are fast: the widest copies to LDS take them.
constexpr bool gemm_loads_fast(std::int64_t bytes) { return bytes % copy_lane_bytes == 0; }

// What a task of repack copies: R rows of each worker by C columns.
struct repack_tuning {
  int workers, R, C;
};
constexpr repack_tuning tune_repack() { return {4, 8, 512}; }

// Rows of queries per worker and keys per step.
struct attention_tuning {
  int workers, M, N, slots, own_slots;
  bool ahead, turns;
};

}  // namespace tk::be

#include TK_CHIP(tune.hpp)
