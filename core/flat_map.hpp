// SPDX-License-Identifier: MIT
// The layout of register tiles of fewer than 16 rows, for long rows. A row lies in L lanes, in runs
// of 8 neighbours, so that 16-bit rows move 16 bytes at a time:
//   (lane l, element i of a row) -> col (i / 8) 8 L + 8 (l % L) + i % 8
// Where the rows can be shared out evenly among the worker's warps, each warp has whole rows, the
// w-th the w-th share of them (L = lanes of a warp); else each row is spread over all lanes of the
// worker.
#pragma once
#include "backends/select.hpp"

#include TK_CHIP(arch.hpp)

namespace tk {

// Whether a row of a tile of R rows lies in one warp.
template <int R> inline constexpr bool rows_in_warps = R >= 16 || R % be::worker_warps == 0;
// Rows of which each lane has a part.
template <int R> inline constexpr int flat_slots = rows_in_warps<R> ? R / be::worker_warps : R;

template <int R, int C> struct flat_map {
  static constexpr int run = 8, L = rows_in_warps<R> ? be::warp_lanes : be::worker_lanes;
  static_assert(C % (run * L) == 0, "a flat row has a multiple of 8 columns for each of its lanes");
  static constexpr int rows = R, cols = C, lanes = be::worker_lanes, slots = flat_slots<R>;
  static constexpr int per_slot = C / L, count = slots * per_slot;
  static constexpr int shares = slots >= 4 ? 1 : 4 / slots;
  static TK_BOTH constexpr int slot(int i) { return i / per_slot; }
  static TK_BOTH constexpr int row(int slot) { return slot; }
  static TK_BOTH constexpr int col(int i) { return i % per_slot / run * (run * L) + i % run; }
  static TK_BOTH constexpr int element(int slot, int k) { return slot * per_slot + k; }
  static TK_BOTH constexpr int nth(int i) { return i % per_slot; }
  static TK_BOTH constexpr int lane_row(int lane) { return lane / L * slots; }
  static TK_BOTH constexpr int lane_col(int lane) { return run * (lane % L); }
  // Where element i of the p-th V columns, seen as a tile, lies in this one.
  template <int V> static TK_BOTH constexpr int part(int i, int p) {
    return i / (V / L) * per_slot + p * (V / L) + i % (V / L);
  }
  // body(i, slot, share): neighbours in a row belong to different shares of a reduction.
  template <class Body> static TK_DEVICE void for_each(Body body) {
    TK_UNROLL
    for (int i = 0; i < count; ++i) body(i, slot(i), i % shares);
  }
};

}  // namespace tk
