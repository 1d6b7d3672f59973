// SPDX-License-Identifier: MIT
// The layout of register tiles of fewer than 16 rows, for long rows: each row is spread over all
// lanes of the worker, in runs of 8 neighbours, so that 16-bit rows move 16 bytes at a time:
//   (lane l, element i of a row) -> col (i / 8) 8 Lanes + 8 l + i % 8
// An expression of R such rows may have operands of one row, which all R then meet.
#pragma once
#include "backends/select.hpp"

#include TK_CHIP(arch.hpp)

namespace tk {

template <int R, int C, int Lanes = be::worker_lanes> struct flat_map {
  static constexpr int run = 8;
  static_assert(C % (run * Lanes) == 0, "a flat row has a multiple of 8 columns for each lane");
  static constexpr int rows = R, cols = C, lanes = Lanes, slots = R, per_slot = C / Lanes;
  static constexpr int count = R * per_slot, shares = R >= 4 ? 1 : 4 / R;
  static TK_BOTH constexpr int slot(int i) { return i / per_slot; }
  static TK_BOTH constexpr int row(int slot) { return slot; }
  static TK_BOTH constexpr int col(int i) { return i % per_slot / run * (run * Lanes) + i % run; }
  static TK_BOTH constexpr int element(int slot, int k) { return slot * per_slot + k; }
  static TK_BOTH constexpr int lane_row(int) { return 0; }
  static TK_BOTH constexpr int lane_col(int lane) { return run * lane; }
  // Where element i of the p-th V columns, seen as a tile, lies in this one.
  template <int V> static TK_BOTH constexpr int part(int i, int p) {
    return i / (V / Lanes) * per_slot + p * (V / Lanes) + i % (V / Lanes);
  }
  // body(i, slot, share): neighbours in a row belong to different shares of a reduction.
  template <class Body> static TK_DEVICE void for_each(Body body) {
    TK_UNROLL
    for (int i = 0; i < count; ++i) body(i, slot(i), i % shares);
  }
};

}  // namespace tk
