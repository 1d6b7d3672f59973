// SPDX-License-Identifier: MIT
// to[c step] = sum over rows of from[row, c], rounded once: what tasks leave of each column, of up
// to five such matrices. 0 where there is no row. Each warp of a block has some of the rows, in
// order; then their sums are added: equal bits for as many rows.
#pragma once
#include "backends/kernel.hpp"
#include "core/rows.hpp"
#include "core/schedule.hpp"

namespace tk {

template <class T> struct column_totals {
  static constexpr int workers = whole_rows ? 1 : 4, cluster = 1, stages = 1, own_slots = 1;
  // Few columns, and S rows for each warp: many blocks, and many loads on their way.
  static constexpr int N = whole_rows ? 1024 : 8 * be::warp_lanes, R = be::worker_warps,
                       S = whole_rows ? 1 : 4, columns = N / S, at_once = 4;
  using tile = reg_tile<float, R, N>;
  using map = be::fragment_map<R, N>;
  struct stage {};
  struct own {};
  struct scratch {
    float sums[R][N];
  };
  static constexpr int most = 5;
  struct matrix {
    float const* from;
    T* to;
    std::int64_t step = 1;
  };
  struct args {
    matrix of[most];
    int count, rows, width, stride;  // a multiple of 16 bytes
  };
  struct task {
    int which, col, steps;
  };
  static TK_BOTH int tasks_of_one(args const& a) { return ceil_div(a.width, columns); }
  static TK_BOTH int tasks(args const& a) { return a.count * tasks_of_one(a); }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const which = i / tasks_of_one(a);
    return {which, (i - which * tasks_of_one(a)) * columns, 0};
  }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const w = c.w.id();
    auto const begin_of = [&](int worker) {
      return static_cast<int>(std::int64_t{a.rows} * worker / workers);
    };
    int const end = begin_of(w + 1);
    matrix of = a.of[0];
    TK_UNROLL
    for (int i = 1; i < most; ++i)
      if (i == t.which) of = a.of[i];
    tensor<float const> const from{of.from, end, a.width, a.stride};
    tile sum = 0.f;
    for (int row = begin_of(w); row < end; row += at_once * R * S) {
      tile x[at_once];
      TK_UNROLL
      for (int i = 0; i < at_once; ++i)
        tk::load<S>(x[i], from, chunk_of<float>, row + i * R * S, t.col);
      TK_UNROLL
      for (int i = 0; i < at_once; ++i) sum = sum + x[i];
    }
    int const lane = map::lane_col(be::worker_lane()), warp = map::lane_row(be::worker_lane());
    TK_UNROLL
    for (int i = 0; i < map::count; ++i) c.scratch.sums[warp][lane + map::col(i)] = sum.e[i];
    meet<true>(c);
    constexpr int each = columns / workers;
    for (int k = w * each + be::worker_lane(); k < (w + 1) * each; k += be::worker_lanes) {
      float all = 0;
      for (auto const& scratch : c.scratches)
        for (auto const& row : scratch.sums) TK_UNROLL
      for (int s = 0; s < S; ++s) all += row[s * columns + k];
      std::int64_t const place = of.step * (t.col + k);
      if (t.col + k < a.width) put(of.to + place, all);
    }
    meet<true>(c);
  }
};

}  // namespace tk
