// SPDX-License-Identifier: MIT
// What a worker of the row template adds up of each column over the rows of a task, in order: in
// registers, and of rows of the last class in memory. What tasks leave, core/column_totals.hpp adds
// up.
#pragma once
#include "backends/kernel.hpp"
#include "core/rows.hpp"

namespace tk {

template <class Kernel> class column_adder {
  using kernel = Kernel;
  using args = typename kernel::args;
  static constexpr int R = kernel::R, N = kernel::N, abreast = kernel::abreast,
                       count = kernel::sums;
  static constexpr bool in_registers = !kernel::is_long;
  using map = be::fragment_map<R, N>;
  using places = flat_places<R, N, abreast>;
  static constexpr int per_row = map::count / map::rows_per_lane;  // numbers of a lane
  static_assert(in_registers ||
                    ((R == 1 || !rows_in_warps<R>) && (kernel::shared || kernel::workers == 1)),
                "of long rows one lane has a column");

 public:
  TK_DEVICE void begin(int task) {
    task_ = task;
    if constexpr (in_registers) {
      TK_UNROLL
      for (auto& sum : sums_) TK_UNROLL
      for (float& x : sum) x = 0;
    }
  }
  TK_DEVICE void begin_rows() { ++begun_; }
  // To sum I x, the index-th V columns, which begin at col, of the rows from `row` on.
  template <int I, int V, class X>
  TK_DEVICE void add(args const& a, [[maybe_unused]] int row, [[maybe_unused]] int index,
                     [[maybe_unused]] int col, X const& x) {
    using part_map = be::fragment_map<R, V>;
    operand<X> const from{x};
    int const left = kernel::row_count(a) - row - places::lane_row();
    if constexpr (in_registers) {
      part_map::for_each([&](int i, int r, int) {
        float const v = from.template element<part_map>(i, r);
        // Of a group of one row, that is there.
        sums_[I][index * (part_map::count / part_map::rows_per_lane) + part_map::nth(i)] +=
            kernel::group == 1 || places::row(r) < left ? v : 0.f;
      });
    } else {
      float* const to = sums_of_task(a, I) + (col + places::lane_col());
      int const columns = a.width - col - places::lane_col();
      constexpr int each = part_map::count / part_map::rows_per_lane, run = 4;
      static_assert(each % run == 0, "a lane has runs of 8 neighbours");
      TK_UNROLL
      for (int k = 0; k < each; k += run) {
        float v[run] = {};
        TK_UNROLL
        for (int j = 0; j < run; ++j) TK_UNROLL
        for (int r = 0; r < part_map::rows_per_lane; ++r)
          if (r == 0 || places::row(r) < left)
            v[j] += from.template element<part_map>(part_map::element(r, k + j), r);
        add_run(to + part_map::col(k), v, columns - part_map::col(k));
      }
    }
  }
  // All sums, to memory; this worker's columns begin at col.
  template <class Context>
  TK_DEVICE void leave([[maybe_unused]] Context& c, [[maybe_unused]] args const& a,
                       [[maybe_unused]] int col) {
    if constexpr (in_registers) {
      TK_UNROLL
      for (auto& sum : sums_) TK_UNROLL
      for (float& x : sum) TK_UNROLL
      for (int bit = be::warp_lanes / abreast; bit < be::warp_lanes; bit *= 2)
        x = x + be::shuffle_xor(x, bit);
      if constexpr (kernel::sums_meet) add_up(c, a);
      else for_each_sum([&](int i, int from, float x) { put_sum(a, i, col + from, x); });
    }
  }

 private:
  struct alignas(16) four_sums {
    float x[4];
  };
  // To four sums of neighbours, or as many as there are columns.
  TK_DEVICE void add_run(float* to, float const (&v)[4], int columns) const {
    if (columns >= 4) {
      four_sums was{};
      if (begun_ > 1) was = *reinterpret_cast<four_sums const*>(to);
      TK_UNROLL
      for (int j = 0; j < 4; ++j) was.x[j] += v[j];
      *reinterpret_cast<four_sums*>(to) = was;
    } else {
      TK_UNROLL
      for (int j = 0; j < 4; ++j)
        if (j < columns) to[j] = begun_ > 1 ? to[j] + v[j] : v[j];
    }
  }
  TK_DEVICE float* sums_of_task(args const& a, int i) const {
    return a.sums[i] + std::int64_t{task_} * a.sum_stride;
  }
  TK_DEVICE void put_sum(args const& a, int i, int col, float x) const {
    if (a.sums[i] && col < a.width) sums_of_task(a, i)[col] = x;
  }
  // body(i, col, x) for each sum x of this lane, whose column is the col-th of the worker.
  template <class Body> TK_DEVICE void for_each_sum(Body body) const {
    if (abreast > 1 && be::worker_lane() % be::warp_lanes >= places::lanes) return;
    TK_UNROLL
    for (int i = 0; i < count; ++i) TK_UNROLL
    for (int k = 0; k < per_row; ++k)
      body(i, places::lane_col() + map::col(map::element(0, k)), sums_[i][k]);
  }
  // Warps that have sums of the same columns add them up in turn.
  template <class Context> TK_DEVICE void add_up(Context& c, args const& a) const {
    constexpr int each = N / abreast / kernel::workers;
    int const warp = be::worker_lane() / be::warp_lanes,
              mine = c.w.id() * kernel::turns + (kernel::turns > 1 ? warp : 0);
    for (int turn = 0; turn < kernel::workers * kernel::turns; ++turn) {
      if (turn == mine)
        for_each_sum([&](int i, int col, float x) {
          float& to = c.scratches[col / each].sums.of[i][col % each];
          to = turn == 0 ? x : to + x;
        });
      meet<true>(c);
    }
    TK_UNROLL
    for (int i = 0; i < count; ++i)
      for (int k = be::worker_lane(); k < each; k += be::worker_lanes)
        put_sum(a, i, c.w.id() * each + k, c.scratch.sums.of[i][k]);
    meet<true>(c);
  }

  int task_ = 0, begun_ = 0;
  float sums_[in_registers ? count : 1][in_registers ? per_row : 1];
};

}  // namespace tk
