// SPDX-License-Identifier: MIT
// Vectors in shared memory that belong to one worker: reductions over columns, cumulative sums, one
// value per row, and what of them goes to global memory. as_row(vector) reads one inside an
// expression.
//   col_sum(w, dst, x, exchange)   dst[c] = sum over rows of x[row, c], and so col_max and col_min
//   col_sum_shares(w, shares, x)   the first half of it: each warp leaves its own sums
//   for_col_sums(shares, use)      the second, after a sync: use(c, sum), once for each column
//   cumsum(w, x)                   x[n] becomes x[0] + ... + x[n]
//   sum_of(x, count)               x[0] + ... + x[count - 1], by every warp for itself
// In the first, x is a tile or an expression of R x C, dst a shared_vec<T, C>, exchange a
// col_exchange<C>. All lanes of the worker call. On return all of them may read the vector, and x
// and `exchange` may be used again at once. Sums are fp32, rounded to T last; their order is that
// of the layout: equal bits every time.
#pragma once
#include "core/move.hpp"
#include "core/reduce.hpp"

namespace tk {

// What the warps of a worker leave for one another in a reduction over columns.
template <int C, int Warps = be::worker_warps> struct col_exchange {
  float of[Warps][C];
};
template <int C> struct col_exchange<C, 1> {};

// Combines the values x[k] of a lane's columns first + k, 0 <= k < N, with those of the lanes of
// its warp that have the same columns. At each step two lanes share the columns between them while
// these are even in number, so that N columns cost about N exchanges. Then put(column, value), once
// per column.
template <class Map, class F, int Bit, int N, int Size, class Put>
TK_DEVICE void across_cols(float (&x)[Size], int first, bool mine, Put put) {
  bool const upper = (be::worker_lane() & Bit) != 0;
  if constexpr (Bit == be::warp_lanes) {
    TK_UNROLL
    for (int k = 0; k < N; ++k)
      if (mine) put(first + k, x[k]);
  } else if constexpr (Map::lane_col(Bit) != 0) {
    across_cols<Map, F, 2 * Bit, N>(x, first, mine, put);
  } else if constexpr (N % 2 == 0) {
    TK_UNROLL
    for (int k = 0; k < N / 2; ++k) {
      float const kept = upper ? x[k + N / 2] : x[k], given = upper ? x[k] : x[k + N / 2];
      x[k] = F{}(kept, be::shuffle_xor(given, Bit));
    }
    across_cols<Map, F, 2 * Bit, N / 2>(x, upper ? first + N / 2 : first, mine, put);
  } else {
    TK_UNROLL
    for (int k = 0; k < N; ++k) x[k] = F{}(x[k], be::shuffle_xor(x[k], Bit));
    across_cols<Map, F, 2 * Bit, N>(x, first, mine && !upper, put);
  }
}

// A few of a lane's columns at a time: all at once would take more registers, and no fewer
// exchanges.
template <class F, class Worker, class X, class Put>
TK_DEVICE void reduce_in_warp([[maybe_unused]] Worker const& w, X const& x, Put put) {
  using op = operand<X>;
  using map = be::fragment_map<op::rows, op::cols>;
  constexpr int N = map::count / map::rows_per_lane, at_once = (N & -N) < 16 ? N & -N : 16;
  int const left = map::lane_col(be::worker_lane());
  op const from{x};
  TK_UNROLL
  for (int first = 0; first < N; first += at_once) {
    auto const value = [&](int r, int k) {
      return from.template element<map>(map::element(r, first + k), r);
    };
    float share[at_once];
    TK_UNROLL
    for (int k = 0; k < at_once; ++k) share[k] = value(0, k);
    TK_UNROLL
    for (int r = 1; r < map::rows_per_lane; ++r) TK_UNROLL
    for (int k = 0; k < at_once; ++k) share[k] = F{}(share[k], value(r, k));
    if constexpr (be::worker_warps == 1) w.sync();  // x may read what is written now
    across_cols<map, F, 1, at_once>(
        share, first, true, [&](int k, float v) { put(left + map::col(map::element(0, k)), v); });
  }
}
template <class F, class Worker, class T, int C, class X>
TK_DEVICE void reduce_cols(Worker const& w, shared_vec<T, C>& dst, X const& x,
                           [[maybe_unused]] col_exchange<C>& exchange) {
  static_assert(is_tile<X>, "a reduction over columns takes a tile");
  static_assert(operand<X>::cols == C,
                "a reduction over columns gives as many values as it has columns");
  if constexpr (be::worker_warps == 1) {
    reduce_in_warp<F>(w, x, [&](int col, float v) { put(&dst.data[col], v); });
  } else {
    int const lane = be::worker_lane();
    static_assert(
        be::fragment_map<be::worker_rows, 16>::lane_col(be::worker_lanes - be::warp_lanes) == 0,
        "the warps of a worker hold different rows");
    float* const mine = exchange.of[lane / be::warp_lanes];
    reduce_in_warp<F>(w, x, [&](int col, float v) { mine[col] = v; });
    w.sync();
    for (int c = lane; c < C; c += be::worker_lanes) {
      float v = exchange.of[0][c];
      TK_UNROLL
      for (int warp = 1; warp < be::worker_warps; ++warp) v = F{}(v, exchange.of[warp][c]);
      put(&dst.data[c], v);
    }
  }
  w.sync();
}
template <class Worker, class T, int C, tile_expression X>
TK_DEVICE void col_max(Worker const& w, shared_vec<T, C>& dst, X&& x, col_exchange<C>& exchange) {
  reduce_cols<larger>(w, dst, x, exchange);
}
template <class Worker, class T, int C, tile_expression X>
TK_DEVICE void col_min(Worker const& w, shared_vec<T, C>& dst, X&& x, col_exchange<C>& exchange) {
  reduce_cols<smaller>(w, dst, x, exchange);
}
template <class Worker, class T, int C, tile_expression X>
TK_DEVICE void col_sum(Worker const& w, shared_vec<T, C>& dst, X&& x, col_exchange<C>& exchange) {
  reduce_cols<plus>(w, dst, x, exchange);
}

// What warps leave between the two halves of a sum over columns.
template <int C> struct col_shares {
  float of[be::worker_warps][C];
};
template <class Worker, int C, class X>
TK_DEVICE void col_sum_shares(Worker const& w, col_shares<C>& shares, X const& x) {
  static_assert(is_tile<X> && operand<X>::cols == C);
  float* const mine = shares.of[be::worker_lane() / be::warp_lanes];
  reduce_in_warp<plus>(w, x, [&](int col, float v) { mine[col] = v; });
}
template <int C, class Use> TK_DEVICE void for_col_sums(col_shares<C> const& shares, Use use) {
  for (int c = be::worker_lane(); c < C; c += be::worker_lanes) {
    float v = shares.of[0][c];
    TK_UNROLL
    for (int warp = 1; warp < be::worker_warps; ++warp) v += shares.of[warp][c];
    use(c, v);
  }
}

// A vector on its way from global to shared memory, held by the lanes of a worker meanwhile:
// fetch(x, src), and later store(vector, x).
template <class T, int N> struct fetched_vec {
  static constexpr int each = (N + be::worker_lanes - 1) / be::worker_lanes;
  T e[each] = {};
};
template <class T, int N> TK_DEVICE void fetch(fetched_vec<T, N>& x, T const* src) {
  TK_UNROLL
  for (int k = 0; k < x.each; ++k)
    if (int const i = be::worker_lane() + k * be::worker_lanes; i < N) x.e[k] = src[i];
}
// The worker's lanes may read it after a sync.
template <class T, int N> TK_DEVICE void store(shared_vec<T, N>& dst, fetched_vec<T, N> const& x) {
  TK_UNROLL
  for (int k = 0; k < x.each; ++k)
    if (int const i = be::worker_lane() + k * be::worker_lanes; i < N) dst.data[i] = x.e[k];
}

// Each warp sums for itself, as many neighbours to a lane; the first one writes.
template <class Worker, class T, int N>
TK_DEVICE void cumsum(Worker const& w, shared_vec<T, N>& x) {
  constexpr int each = (N + be::warp_lanes - 1) / be::warp_lanes;
  int const lane = be::worker_lane(), first = lane % be::warp_lanes * each;
  float sum[each], before = 0;
  TK_UNROLL
  for (int k = 0; k < each; ++k) {
    float const v = first + k < N ? be::widen(x.data[first + k]) : 0.f;
    sum[k] = k > 0 ? sum[k - 1] + v : v;
  }
  // Neighbours, then pairs, then fours of lanes exchange their totals.
  float total = sum[each - 1];
  TK_UNROLL
  for (int bit = 1; bit < be::warp_lanes; bit *= 2) {
    float const other = be::shuffle_xor(total, bit);
    if (lane & bit) before = other + before;
    total = total + other;
  }
  w.sync();  // all have read
  TK_UNROLL
  for (int k = 0; k < each; ++k)
    if (lane < be::warp_lanes && first + k < N) put(&x.data[first + k], before + sum[k]);
  w.sync();
}

template <class T, int N> TK_DEVICE float sum_of(shared_vec<T, N> const& x, int count = N) {
  float sum = 0;
  TK_UNROLL
  for (int first = 0; first < N; first += be::warp_lanes)
    if (int const n = first + be::worker_lane() % be::warp_lanes; n < count)
      sum += be::widen(x.data[n]);
  TK_UNROLL
  for (int bit = 1; bit < be::warp_lanes; bit *= 2) sum += be::shuffle_xor(sum, bit);
  return sum;
}

// ---- one value per row; other lanes may read dst once a barrier of the worker has followed
template <class T, int R> TK_DEVICE void store(shared_vec<T, R>& dst, reg_col<float, R> const& x) {
  store(dst.data, x, R);
}
template <class T, int R> TK_DEVICE reg_col<float, R> load_col(shared_vec<T, R> const& src) {
  return load_col<R>(src.data, R, 0.f);
}

// ---- one value per column, in registers
template <class T, int R, int C>
TK_DEVICE void load(reg_row<T, R, C>& dst, shared_vec<T, C> const& src) {
  static_assert(sizeof(T) == 4, "a row of 16-bit elements comes from global memory");
  using map = be::fragment_map<R, C>;
  T const* const first = src.data + map::lane_col(be::worker_lane());
  TK_UNROLL
  for (int k = 0; k < dst.count; ++k) dst.e[k] = first[map::col(map::element(0, k))];
}

// ---- to global memory: src to dst[0, N), but not to dst[left] and beyond
template <class T, int N> TK_DEVICE void store(T* dst, shared_vec<T, N> const& src, int left) {
  for (int n = be::worker_lane(); n < N; n += be::worker_lanes)
    if (n < left) dst[n] = src.data[n];
}

}  // namespace tk
