// SPDX-License-Identifier: MIT
// What expressions of the row template (core/row_kernel.hpp) are made of: parts of tiles and of
// rows, and what counts of them.
#pragma once
#include "core/rows.hpp"

namespace tk {

// Names of an op's operands, by number.
template <int I> struct row_input {};
template <int I> struct row_output {};
template <int I> struct row_vector {};
template <int I> struct column_sum {};
template <int I> struct row_value {};

// What reductions of two things at once give, and what keep_exp2 gives.
template <class Column> struct two_sums {
  Column first, second;
};
template <class Column> struct maximum_and_sums {
  Column max, sum, other;
  Column top;  // the largest f itself, where max is that times a factor
};
template <class Column, class Kept> struct exponentials : maximum_and_sums<Column> {
  Kept each;
};

// A large product less its rounded self is 0, and not what rounding left of it.
struct minus_unfused {
  TK_DEVICE float operator()(float x, float y) const { return be::subtract(x, y); }
};

// What is not there, in a sum.
struct absent {};
TK_DEVICE absent operator*(absent, float) { return {}; }
template <class X> TK_DEVICE std::remove_cvref_t<X> operator+(X&& x, absent) {
  return static_cast<X&&>(x);
}
template <class X> TK_DEVICE std::remove_cvref_t<X> operator+(absent, X&& x) {
  return static_cast<X&&>(x);
}

template <class X> TK_DEVICE std::remove_cvref_t<X> operator-(X&& x, absent) {
  return static_cast<X&&>(x);
}

// x - y, of which products are rounded first: a chip that may fuse them does not.
template <class X, class Y> TK_DEVICE auto subtract_unfused(X const& x, Y const& y) {
  return combine<minus_unfused>(x, y);
}
template <class X> TK_DEVICE X subtract_unfused(X const& x, absent) { return x; }

// What is written as T: of fp8 no infinities.
template <class T> inline constexpr bool saturates = sizeof(T) == 1;
template <class T, class X> TK_DEVICE auto rounded(X&& x) {
  if constexpr (saturates<T>) return saturating_cast<T>(static_cast<X&&>(x));
  else return cast<T>(static_cast<X&&>(x));
}

// What keep() gives.
template <class F, class Tile> struct kept {
  F f;
  [[no_unique_address]] Tile x;  // not cleared, which takes a worker of one lane as long as a pass
  TK_DEVICE explicit kept(F const& of) : f(of) {}
};

// The index-th V columns of a flat tile, or of a row of values per column.
template <int V, class Tile> struct columns_part;
template <int V, class T, int R, int C> struct columns_part<V, reg_tile<T, R, C>> {
  static constexpr int rows = R, cols = V;
  reg_tile<T, R, C> const* x;
  int index;
  template <class Map> TK_DEVICE float element(int i, int) const {
    int const at = be::fragment_map<R, C>::template part<V>(i, index);
    if constexpr (sizeof(T) == 4) return x->e[at];
    else return x->value(at);
  }
};
template <int V, class T, int R, int C> struct columns_part<V, reg_row<T, R, C>> {
  static constexpr int rows = 1, cols = V;
  reg_row<T, R, C> const* x;
  int index;
  template <class Map> TK_DEVICE float element(int i, int) const {
    int const at = index * (Map::count / Map::rows_per_lane) + Map::nth(i);
    if constexpr (is_half<Map>) return element_in_pair<Map>(reinterpret_cast<T const*>(x->e), at);
    else return x->value(at);
  }
};
template <int V, class T, int R, int C> struct columns_part<V, rows_in_place<T, R, C>> {
  static constexpr int rows = R, cols = V;
  T const* x;
  TK_DEVICE columns_part(rows_in_place<T, R, C> const* of, int index) : x(of->data + index * V) {}
  template <class Map> TK_DEVICE float element(int i, int) const {
    if constexpr (is_half<Map>) return element_in_pair<Map>(x, i);
    else return be::widen(x[i]);
  }
};
template <int V, class Tile> inline constexpr bool is_lazy<columns_part<V, Tile>> = true;
template <class X> inline constexpr bool is_columns_part = false;
template <int V, class Tile> inline constexpr bool is_columns_part<columns_part<V, Tile>> = true;
template <int V, class Tile> struct operand<columns_part<V, Tile>> : columns_part<V, Tile> {};
template <int V, int C>
inline constexpr bool has_halves<operand<columns_part<V, rows_in_place<bf16, 1, C>>>> = true;
template <int V, int C>
inline constexpr bool has_halves<operand<columns_part<V, reg_row<bf16, 1, C>>>> = true;
template <int V, class Tile> TK_DEVICE columns_part<V, Tile> part_of(Tile const& x, int index) {
  return {&x, index};
}

// yes or no, both known: what compilers make SIMD of, as they don't where one need not be computed.
TK_DEVICE float chosen(std::uint32_t mask, float yes, float no) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(yes) & mask) |
                              (std::bit_cast<std::uint32_t>(no) & ~mask));
}
// V masks of all ones, then V zeros: from the (V - n)-th on, n columns are inside. Compilers read
// them as vectors; of comparisons of columns they make none.
template <int V> struct column_masks {
  std::uint32_t of[2 * V]{};
  constexpr column_masks() {
    for (int i = 0; i < V; ++i) of[i] = ~0u;
  }
};
template <int V> inline constexpr column_masks<V> masks_of_columns{};
// Those of V columns of which `left` are inside, and apart those of even and odd ones.
template <int V> struct columns_inside {
  std::uint32_t const *of, *of_half[2];
  columns_inside() = default;
  TK_DEVICE explicit columns_inside(int left) {
    int const n = left < 0 ? 0 : left < V ? left : V;
    auto const* const end = masks_of_columns<V>.of + V;
    of = end - n, of_half[0] = end - (n + 1) / 2, of_half[1] = end - n / 2;
  }
  template <class Map> TK_DEVICE std::uint32_t at(int i) const {
    int const c = Map::nth(i);
    if constexpr (is_half<Map>) {
      std::uint32_t mask;
      __builtin_memcpy(&mask, reinterpret_cast<char const*>(of_half[Map::half]) + 2 * c, 4);
      return mask;
    } else {
      return of[c];
    }
  }
};
// An expression of V columns from `col` on, and `fill` from a row's end on and, where some may be,
// below 0.
template <int R, int V, int S, bool Below, class X> struct within {
  using map = be::fragment_map<R, V>;
  static constexpr int rows = R, cols = V;
  using bound = std::conditional_t<whole_rows, columns_inside<V>, int>;
  operand<X> x;
  int lowest;
  bound left[map::rows_per_lane];
  float fill;
  TK_DEVICE within(X const& of, int const (&end)[map::rows_per_lane], int col, float f)
      : x{of}, fill(f) {
    int const lane = col + flat_places<R, V, S>::lane_col();
    lowest = -lane;
    TK_UNROLL
    for (int r = 0; r < map::rows_per_lane; ++r) left[r] = bound(end[r] - lane);
  }
  template <class Map> TK_DEVICE float element(int i, int r) const {
    if constexpr (whole_rows) {
      std::uint32_t inside = left[r].template at<Map>(i);
      if constexpr (Below) inside &= ~columns_inside<V>(lowest).template at<Map>(i);
      return chosen(inside, x.template element<Map>(i, r), fill);
    } else {
      int const c = Map::col(i);
      bool const inside = (!Below || c >= lowest) && c < left[r];
      return inside ? x.template element<Map>(i, r) : fill;
    }
  }
};
template <int R, int V, int S, bool Below, class X>
inline constexpr bool is_lazy<within<R, V, S, Below, X>> = true;
template <class X> inline constexpr bool is_within = false;
template <int R, int V, int S, bool Below, class X>
inline constexpr bool is_within<within<R, V, S, Below, X>> = true;
template <int R, int V, int S, bool Below, class X>
struct operand<within<R, V, S, Below, X>> : within<R, V, S, Below, X> {};
template <int R, int V, int S, bool Below, class X>
inline constexpr bool has_halves<operand<within<R, V, S, Below, X>>> = has_halves<operand<X>>;

// Pairs of columns (a, b) become (-b, a): where a worker is one lane, at once, since compilers make
// no SIMD of neighbours that are read in turn.
template <class X> struct rotated_pairs {
  static constexpr int rows = operand<X>::rows, cols = operand<X>::cols;
  struct at_once {
    float e[rows * cols];
    TK_DEVICE explicit at_once(X const& of) {
      operand<X> const x{of};
      float each[rows * cols];
      for (int i = 0; i < rows * cols; ++i)
        each[i] = x.template element<be::fragment_map<rows, cols>>(i, i / cols);
      for (int i = 0; i < rows * cols; i += 2) {
        std::uint64_t pair;
        __builtin_memcpy(&pair, each + i, 8);
        pair = (pair << 32 | pair >> 32) ^ 0x80000000;  // the sign of the first
        __builtin_memcpy(e + i, &pair, 8);
      }
    }
  };
  std::conditional_t<whole_rows, at_once, operand<X>> x;
  TK_DEVICE explicit rotated_pairs(X const& of) : x{of} {}
  template <class Map> TK_DEVICE float element(int i, int r) const {
    if constexpr (whole_rows) {
      return x.e[i];
    } else {
      float const other = x.template element<Map>(i ^ 1, r);
      return i % 2 == 0 ? -other : other;
    }
  }
};
template <class X> inline constexpr bool is_lazy<rotated_pairs<X>> = true;
template <class X> struct operand<rotated_pairs<X>> : rotated_pairs<X> {};

// A column of each row of a lane, or none (a negative one).
template <int R> struct row_columns {
  int e[be::column_map<R>::count];
};
// Whether any of them is one of `cols` from `col` on.
template <int R> TK_DEVICE bool any_within(row_columns<R> const& x, int col, int cols) {
  bool any = false;
  TK_UNROLL
  for (int const e : x.e) any = any || static_cast<unsigned>(e - col) < static_cast<unsigned>(cols);
  return any;
}
// An element of each row of a lane, widened when it is wanted: nothing waits for it before.
template <class T, int R> struct row_elements {
  T e[be::column_map<R>::count];
  TK_DEVICE operator reg_col<float, R>() const {
    reg_col<float, R> x;
    TK_UNROLL
    for (int r = 0; r < be::column_map<R>::count; ++r) x.e[r] = be::widen(e[r]);
    return x;
  }
};
// 1 in one column of each row, else 0, of V columns from `col` on.
template <int R, int V, int S> struct one_column {
  using map = be::fragment_map<R, V>;
  static constexpr int rows = R, cols = V;
  int at[map::rows_per_lane];
  TK_DEVICE one_column(row_columns<R> const& of, int col) {
    int const lane = col + flat_places<R, V, S>::lane_col();
    TK_UNROLL
    for (int r = 0; r < map::rows_per_lane; ++r) at[r] = of.e[r] - lane;
  }
  template <class Map> TK_DEVICE float element(int i, int r) const {
    return Map::col(i) == at[r] ? 1.f : 0.f;
  }
};
template <int R, int V, int S> inline constexpr bool is_lazy<one_column<R, V, S>> = true;
template <int R, int V, int S> struct operand<one_column<R, V, S>> : one_column<R, V, S> {};

// The index-th V columns of dst become x.
template <int R, int C, class Operand>
TK_DEVICE void put_elements(reg_tile<float, R, C>& dst, int index, Operand const& x) {
  using map = be::fragment_map<R, Operand::cols>;
  map::for_each([&](int i, int r, int) {
    dst.e[be::fragment_map<R, C>::template part<Operand::cols>(i, index)] =
        x.template element<map>(i, r);
  });
}
template <int R, int C, class X>
TK_DEVICE void put_part(reg_tile<float, R, C>& dst, int index, X const& x) {
  put_elements(dst, index, operand<X>{x});
}

// x, computed once.
template <class X> TK_DEVICE auto evaluated(X const& x) {
  reg_tile<float, operand<X>::rows, operand<X>::cols> y;
  put_part(y, 0, x);
  return y;
}

// x and y, computed once, element by element: what they share is needed for one element at a time.
// Of whole rows neither is, since what lies between two passes is memory.
template <class X, class Y> struct evaluated_pair {
  X x;
  Y y;
};
template <class X, class Y> TK_DEVICE auto evaluated_together(X&& x, Y&& y) {
  if constexpr (whole_rows) {
    return evaluated_pair<X&&, Y&&>{static_cast<X&&>(x), static_cast<Y&&>(y)};
  } else {
    operand<std::remove_cvref_t<X>> const of_x{x};
    operand<std::remove_cvref_t<Y>> const of_y{y};
    using map = be::fragment_map<of_x.rows, of_x.cols>;
    using tile = reg_tile<float, map::rows, map::cols>;
    evaluated_pair<tile, tile> both;
    map::for_each([&](int i, int r, int) {
      both.x.e[i] = of_x.template element<map>(i, r);
      both.y.e[i] = of_y.template element<map>(i, r);
    });
    return both;
  }
}

// row_share of the first `left` columns of this lane's, a run of 8, of which whole chunks are
// inside.
template <class F, int Chunk, int R, int V>
TK_DEVICE reg_col<float, R> share_of_chunks(reg_tile<float, R, V>& x, int left, float start) {
  using map = be::fragment_map<R, V>;
  static_assert(map::count / map::rows_per_lane == 8);
  if constexpr (Chunk < 8) {
    TK_UNROLL
    for (int i = 0; i < map::count; ++i)
      if (i % 8 >= Chunk) x.e[i] = left > Chunk ? x.e[i] : start;
  }
  auto all = row_share<F>(x, start);
  TK_UNROLL
  for (float& e : all.e) e = left > 0 ? e : start;
  return all;
}

// All values of a row become x.
template <class T, int R, int C> TK_DEVICE void fill_row(reg_row<T, R, C>& dst, float x) {
  TK_UNROLL
  for (auto& e : dst.e) {
    if constexpr (sizeof(T) == 4) e = x;
    else e = be::pack(T{}, x, x);
  }
}

}  // namespace tk
