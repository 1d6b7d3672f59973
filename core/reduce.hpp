// SPDX-License-Identifier: MIT
// Reductions over rows, one value per row, and masks by coordinates. fp32; the order of summation
// is fixed by the layout, so that results repeat bit for bit. Reductions over columns go to shared
// memory: core/vector.hpp.
#pragma once
#include "core/expression.hpp"

namespace tk {

// ---- rows
// Where a worker is one lane, row by row: the chains of one row fit into registers, and stay there
// in a function of its own (g++ 12).
template <class F, class Op>
__attribute__((noinline)) reg_col<float, Op::rows> share_by_row(Op const from, float start) {
  using map = be::fragment_map<Op::rows, Op::cols>;
  constexpr int n = map::chains, sets = Op::cols % (4 * n) == 0 ? 4 : 1;
  reg_col<float, Op::rows> all;
  for (int r = 0; r < Op::rows; ++r) {
    float chain[sets][n];
    for (auto& set : chain)
      for (float& s : set) s = start;
    for (int c = 0; c < Op::cols; c += sets * n)
      for (int s = 0; s < sets; ++s)
        for (int k = 0; k < n; ++k)
          chain[s][k] =
              F{}(chain[s][k], from.template element<map>(map::element(r, c + s * n + k), r));
    for (int half = sets / 2; half > 0; half /= 2)
      for (int s = 0; s < half; ++s)
        for (int k = 0; k < n; ++k) chain[s][k] = F{}(chain[s][k], chain[s + half][k]);
    for (int half = n / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) chain[0][k] = F{}(chain[0][k], chain[0][k + half]);
    all.e[r] = chain[0][0];
  }
  return all;
}
// The same of columns in halves, which are in no order.
template <class F, class Op>
__attribute__((noinline)) reg_col<float, Op::rows> share_of_halves(Op const from, float start) {
  constexpr int n = 32;
  using even = half_map<Op::rows, Op::cols, 0>;
  using odd = half_map<Op::rows, Op::cols, 1>;
  reg_col<float, Op::rows> all;
  for (int r = 0; r < Op::rows; ++r) {
    float chain[2 * n];
    for (float& x : chain) x = start;
    for (int c = 0; c < Op::cols; c += 2 * n)
      for (int k = 0; k < n; ++k) {
        int const i = even::element(r, c + 2 * k);
        chain[k] = F{}(chain[k], from.template element<even>(i, r));
        chain[n + k] = F{}(chain[n + k], from.template element<odd>(i, r));
      }
    for (int half = n; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) chain[k] = F{}(chain[k], chain[k + half]);
    all.e[r] = chain[0];
  }
  return all;
}
// Several running values per row and lane keep the chain of dependent operations short. They begin
// with `start`, which changes nothing, and in long rows with their first element.
template <class F, class X> TK_DEVICE auto row_share(X const& x, float start) {
  using op = operand<X>;
  using map = be::fragment_map<op::rows, op::cols>;
  if constexpr (be::worker_lanes == 1 && has_halves<op> && op::cols % 64 == 0)
    return share_of_halves<F>(op{x}, start);
  else if constexpr (be::worker_lanes == 1) return share_by_row<F>(op{x}, start);
  reg_col<float, op::rows> chain[map::chains];
  TK_UNROLL
  for (auto& s : chain) s = reg_col<float, op::rows>(start);
  bool begun[map::chains][map::rows_per_lane];  // known when compiled
  TK_UNROLL
  for (auto& of_rows : begun) TK_UNROLL
  for (bool& is : of_rows) is = !is_flat<op::rows>;
  op const from{x};
  map::for_each([&](int i, int r, int k) {
    float const e = from.template element<map>(i, r);
    chain[k].e[r] = begun[k][r] ? F{}(chain[k].e[r], e) : e;
    begun[k][r] = true;
  });
  TK_UNROLL
  for (int n = map::chains / 2; n > 0; n /= 2) TK_UNROLL
  for (int k = 0; k < n; ++k) chain[k] = combine<F>(chain[k], chain[k + n]);
  return chain[0];
}
template <class F, int R> TK_DEVICE reg_col<float, R> across(reg_col<float, R> x) {
  static_assert(!is_flat<R>, "the rows of a flat tile are summed by row_sum(c, x, buffer)");
  TK_UNROLL
  for (int i = 0; i < be::column_map<R>::count; ++i) x.e[i] = be::across_row<R>(x.e[i], F{});
  return x;
}
template <tile_expression X> TK_DEVICE auto row_max(X&& x) {
  return across<larger>(row_share<larger, std::remove_cvref_t<X>>(x, -inf));
}
template <tile_expression X> TK_DEVICE auto row_min(X&& x) {
  return across<smaller>(row_share<smaller, std::remove_cvref_t<X>>(x, inf));
}
template <tile_expression X> TK_DEVICE auto row_sum(X&& x) {
  return across<plus>(row_share<plus, std::remove_cvref_t<X>>(x, 0.f));
}
// A sum that runs over many steps crosses lanes once: add row_sum_share each step, total() at the
// end.
template <tile_expression X> TK_DEVICE auto row_sum_share(X&& x) {
  return row_share<plus, std::remove_cvref_t<X>>(x, 0.f);
}
template <int R> TK_DEVICE auto total(reg_col<float, R> const& x) { return across<plus>(x); }

template <int R>
TK_DEVICE reg_col<float, R> where_equal(reg_col<float, R> const& x, float value, float yes,
                                        reg_col<float, R> const& no) {
  reg_col<float, R> y;
  TK_UNROLL
  for (int i = 0; i < be::column_map<R>::count; ++i) y.e[i] = x.e[i] == value ? yes : no.e[i];
  return y;
}

template <int R>
TK_DEVICE reg_col<float, R> where_above(reg_col<float, R> const& x, float limit,
                                        reg_col<float, R> const& yes, reg_col<float, R> const& no) {
  reg_col<float, R> y;
  TK_UNROLL
  for (int i = 0; i < be::column_map<R>::count; ++i) y.e[i] = x.e[i] > limit ? yes.e[i] : no.e[i];
  return y;
}
// Whether any value that this warp holds is above the limit: the same in all its lanes, and perhaps
// not in the worker's other warps.
template <int R> TK_DEVICE bool any_above(reg_col<float, R> const& x, float limit) {
  bool above = false;
  TK_UNROLL
  for (int i = 0; i < be::column_map<R>::count; ++i) above = above || x.e[i] > limit;
  return be::any_lane(above);
}

// dst = cast<T>(x), and row_sum_share(x), which is returned, in one pass: x is evaluated once.
template <class T, int R, int C, tile_expression X>
TK_DEVICE reg_col<float, R> cast_with_sum(reg_tile<T, R, C>& dst, X&& x) {
  using op = operand<std::remove_cvref_t<X>>;
  using map = be::fragment_map<R, C>;
  static_assert(sizeof(T) == 2 && op::rows == R && op::cols == C,
                "cast_with_sum takes a tile of 16-bit elements and an expression of its shape");
  op const from{x};
  if constexpr (be::worker_lanes == 1) {
    reg_col<float, R> sum;
    for (int r = 0; r < R; ++r) {
      constexpr int chains = 16;
      float line[C], chain[chains] = {};
      for (int c = 0; c < C; ++c) line[c] = from.template element<map>(map::element(r, c), r);
      for (int c = 0; c < C; c += chains)
        for (int k = 0; k < chains; ++k) chain[k] += line[c + k];
      for (int c = 0; c < C; ++c) {
        T const y{static_cast<decltype(T::bits)>(be::pack(T{}, line[c], 0.f))};
        __builtin_memcpy(reinterpret_cast<T*>(dst.e) + map::element(r, c), &y, sizeof y);
      }
      for (int n = chains / 2; n > 0; n /= 2)
        for (int k = 0; k < n; ++k) chain[k] += chain[k + n];
      sum.e[r] = chain[0];
    }
    return sum;
  }
  reg_col<float, R> even = 0.f, odd = 0.f;
  map::for_each([&](int i, int r, int) {
    if (i % 2 != 0) return;  // elements 2 i and 2 i + 1 are neighbours in a row
    float const lo = from.template element<map>(i, r), hi = from.template element<map>(i + 1, r);
    even.e[r] += lo, odd.e[r] += hi;
    dst.e[i / 2] = be::pack(T{}, lo, hi);
  });
  return even + odd;
}

// x / by, where `inverse` is 1 / by, rounded: exact where the quotient is. (A true division takes
// registers for numbers that do not come here.)
template <int R>
TK_DEVICE reg_col<float, R> quotient(reg_col<float, R> const& x, float by, float inverse) {
  reg_col<float, R> y;
  TK_UNROLL
  for (int i = 0; i < be::column_map<R>::count; ++i) {
    float const near = x.e[i] * inverse;
    y.e[i] = be::fma(be::fma(-near, by, x.e[i]), inverse, near);
  }
  return y;
}

// ---- masks: keep element (row, col) where first <= col < limit, col < limit, row < limit, col <=
// row + offset (lower), or row <= col + offset (upper). Causal is lower; a band is lower and then
// upper.
template <int R, int C> TK_DEVICE void keep_cols(reg_tile<float, R, C>& x, int limit, float fill) {
  using map = be::fragment_map<R, C>;
  int const left = limit - map::lane_col(be::worker_lane());
  map::for_each([&](int i, int, int) { x.e[i] = map::col(i) < left ? x.e[i] : fill; });
}
template <int R, int C>
TK_DEVICE void keep_cols(reg_tile<float, R, C>& x, int first, int limit, float fill) {
  using map = be::fragment_map<R, C>;
  int const lane = map::lane_col(be::worker_lane()), lowest = first - lane, left = limit - lane;
  map::for_each([&](int i, int, int) {
    x.e[i] = map::col(i) >= lowest && map::col(i) < left ? x.e[i] : fill;
  });
}
template <int R, int C> TK_DEVICE void keep_rows(reg_tile<float, R, C>& x, int limit, float fill) {
  using map = be::fragment_map<R, C>;
  int const left = limit - map::lane_row(be::worker_lane());
  map::for_each([&](int i, int r, int) { x.e[i] = map::row(r) < left ? x.e[i] : fill; });
}
template <int R, int C>
TK_DEVICE void keep_lower(reg_tile<float, R, C>& x, int offset, float fill) {
  using map = be::fragment_map<R, C>;
  int const lane = be::worker_lane();
  int const left = offset + map::lane_row(lane) - map::lane_col(lane);
  map::for_each(
      [&](int i, int r, int) { x.e[i] = map::col(i) <= left + map::row(r) ? x.e[i] : fill; });
}
template <int R, int C>
TK_DEVICE void keep_upper(reg_tile<float, R, C>& x, int offset, float fill) {
  using map = be::fragment_map<R, C>;
  int const lane = be::worker_lane();
  int const left = offset + map::lane_col(lane) - map::lane_row(lane);
  map::for_each(
      [&](int i, int r, int) { x.e[i] = map::row(r) <= left + map::col(i) ? x.e[i] : fill; });
}

}  // namespace tk
