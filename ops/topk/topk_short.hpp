// SPDX-License-Identifier: MIT
// topk of short rows and few numbers of each: rows lie in registers, in a warp or part of one, and
// the largest key of each row is taken k times. Keys are all different, so that the result is
// exact.
#pragma once
#include "core/rows.hpp"
#include "core/schedule.hpp"
#include "ops/topk/keys.hpp"
#include "ops/topk/tuning.hpp"

namespace tk {

// The larger of two numbers in unsigned order, which travel among lanes as floats: bits alone.
struct larger_bits {
  TK_DEVICE float operator()(float x, float y) const {
    return std::bit_cast<std::uint32_t>(x) < std::bit_cast<std::uint32_t>(y) ? y : x;
  }
};

// Rows of up to N / S columns, S of them side by side in a row of a tile.
template <class T, int N, int S> struct topk_short {
  static constexpr auto tune = be::tune_topk_short();
  static constexpr int workers = tune.workers, per_unit = tune.per_unit, cluster = 1, stages = 1,
                       own_slots = 1;
  static constexpr int R = be::worker_warps, rows_each = R * S;  // of a worker
  using tile = reg_tile<T, R, N>;
  using map = be::fragment_map<R, N>;
  using places = flat_places<R, N, S>;
  static_assert(map::rows_per_lane == 1 && N / S < 1 << 16);
  static constexpr int lanes = be::warp_lanes / S, E = map::count;  // of a row; of a lane
  using key = std::conditional_t<sizeof(T) == 2, std::uint32_t, std::uint64_t>;
  struct stage {};
  struct own {};
  struct scratch {};
  using args = topk_args;
  struct task {
    int row, steps;
  };

  static TK_BOTH int tasks(args const& a) { return ceil_div(a.rows, workers * rows_each); }
  static TK_BOTH task task_at(args const&, int i, int) { return {i * workers * rows_each, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}
  static TK_BOTH int workers_of(args const&) { return workers; }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const first = t.row + c.w.id() * rows_each, row = first + places::lane_row();
    int const left = a.width - places::lane_col();
    tile x;
    tk::load<S>(x, a.rows_of<T const>(a.x, a.width), a.vector_width, first, 0);
    key keys[E];
    TK_UNROLL
    for (int i = 0; i < E; ++i) {
      key const of = key_of({a.flip}, upper_bits(x, i), a.width - left + map::col(i));
      keys[i] = map::col(i) < left ? of : 0;
    }
    int const own = places::lane_col() / 8 % lanes;  // this lane among its row's
    key mine = 0;
    for (int i = 0, at = 0; i < a.k; ++i) {
      key const most = take_largest(c, keys);
      if (at == own) mine = most;
      if (++at < lanes && i + 1 < a.k) continue;
      if (row < a.rows && own < at) put(a, row, i + 1 - at + own, ordered_key<T>::column(mine));
      at = 0;
    }
  }

 private:
  static TK_DEVICE key key_of(ordered_key<T> order, std::uint32_t bits, int col) {
    if constexpr (sizeof(T) == 2) return order.short_of(bits, col);
    else return order.of(bits, col);
  }
  // Of each row; its place is empty from now on.
  template <class Context> static TK_DEVICE key take_largest(Context& c, key (&keys)[E]) {
    key most = 0;
    TK_UNROLL
    for (int i = 0; i < E; ++i) most = keys[i] > most ? keys[i] : most;
    if constexpr (sizeof(T) == 2) {
      most = largest_of_row(c, most);
    } else {
      auto const high = static_cast<std::uint32_t>(most >> 32);
      std::uint32_t const top = largest_of_row(c, high);
      most = std::uint64_t{top} << 32 |
             largest_of_row(c, high == top ? static_cast<std::uint32_t>(most) : 0);
    }
    TK_UNROLL
    for (int i = 0; i < E; ++i)
      if (keys[i] == most) keys[i] = 0;
    return most;
  }
  template <class Context>
  static TK_DEVICE std::uint32_t largest_of_row(Context& c, std::uint32_t own) {
    int buffer = 0;
    reg_col<float, R> x;
    x.e[0] = std::bit_cast<float>(own);
    return std::bit_cast<std::uint32_t>(row_total<larger_bits, false, S>(c, x, buffer).e[0]);
  }
  static TK_DEVICE void put(args const& a, int row, int i, int col) {
    if (a.values.data) a.row_of<T>(a.values, row)[i] = a.row_of<T const>(a.x, row)[col];
    a.put_index(row, i, col);
  }
};

}  // namespace tk
