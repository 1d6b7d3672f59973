// SPDX-License-Identifier: MIT
// The layout of register tiles of fewer than 16 rows, for long rows. A row lies in L lanes, in runs
// of 8 neighbours, so that 16-bit rows move 16 bytes at a time:
//   (lane l, element i of a row) -> col (i / 8) 8 L + 8 (l % L) + i % 8
// L is the lanes of a warp where R is a multiple of the worker's warps: each warp then has whole
// rows, warp w those from w R / warps on. Else L is all lanes of the worker.
#pragma once
#include "backends/select.hpp"
#include "backends/unroll.hpp"

#include TK_CHIP(arch.hpp)

namespace tk {

// Whether a row of a tile of R rows lies in one warp.
template <int R> inline constexpr bool rows_in_warps = R >= 16 || R % be::worker_warps == 0;
// Rows of which each lane has some columns.
template <int R>
inline constexpr int flat_rows_per_lane = rows_in_warps<R> ? R / be::worker_warps : R;

template <int R, int C> struct flat_map {
  static constexpr int run = 8, L = rows_in_warps<R> ? be::warp_lanes : be::worker_lanes;
  static_assert(C % (run * L) == 0, "a flat row has a multiple of 8 columns for each of its lanes");
  static constexpr int rows = R, cols = C, lanes = be::worker_lanes,
                       rows_per_lane = flat_rows_per_lane<R>;
  static constexpr int per_row = C / L, count = rows_per_lane * per_row;
  static constexpr int chains = rows_per_lane >= 4 ? 1 : 4 / rows_per_lane;
  static TK_BOTH constexpr int row_index(int i) { return i / per_row; }
  static TK_BOTH constexpr int row(int r) { return r; }
  static TK_BOTH constexpr int col(int i) { return i % per_row / run * (run * L) + i % run; }
  static TK_BOTH constexpr int element(int r, int k) { return r * per_row + k; }
  static TK_BOTH constexpr int nth(int i) { return i % per_row; }
  static TK_BOTH constexpr int lane_row(int lane) { return lane / L * rows_per_lane; }
  static TK_BOTH constexpr int lane_col(int lane) { return run * (lane % L); }
  // Where element i of the p-th V columns, seen as a tile, lies in this one.
  template <int V> static TK_BOTH constexpr int part(int i, int p) {
    return i / (V / L) * per_row + p * (V / L) + i % (V / L);
  }
  // body(i, r, chain): neighbours in a row belong to different chains of a reduction.
  template <class Body> static TK_DEVICE void for_each(Body body) {
    TK_UNROLL
    for (int i = 0; i < count; ++i) body(i, row_index(i), i % chains);
  }
};

}  // namespace tk
