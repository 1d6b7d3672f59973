// SPDX-License-Identifier: MIT
// Register tiles and vectors.
// A reg_tile<T, R, C> is held by one worker: every lane has `count` elements, and the backend's
// fragment_map says which. Tiles of 16-bit elements are kept packed, in the layout of a product's
// left operand, which is that of an accumulator; those of fp8 are on their way only, and kept in
// pairs. A reg_col holds one value per row, repeated in the lanes of that row; a reg_row<T, R, C>
// one row of C columns, for tiles of R rows: each lane has what belongs to its columns of such a
// tile.
#pragma once
#include <type_traits>
#include <utility>

#include "core/element.hpp"
#include "core/layout.hpp"

namespace tk {

inline constexpr float inf = __builtin_huge_valf();

// body(std::integral_constant<int, I>) for each I.
template <int N, class Body> TK_BOTH void for_each_index(Body body) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, I>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}

// Below 16 rows a tile is flat: each row is spread over many lanes (core/rows.hpp).
template <int R> inline constexpr bool is_flat = R < 16;
template <int R, int C>
inline constexpr bool is_shape = (is_flat<R> || R % 16 == 0) && R > 0 && C % 16 == 0;

// Two neighbours in a row of a packed tile, the first one in the lower half.
template <class T> using pair_of = std::conditional_t<sizeof(T) == 2, std::uint32_t, std::uint16_t>;

template <class T, int R> struct reg_col;
template <class T, int R, int C> struct reg_tile;

// Expressions are in core/expression.hpp: `element<Map>(i, r)` is their value at one element.
template <class X> inline constexpr bool is_lazy = false;

// Whether X is what cast<T>() gives.
template <class X, class T>
inline constexpr bool is_cast_to = requires { requires std::is_same_v<typename X::type, T>; };

// Asked of what is passed as an X&&: a lazy expression refers to tiles and must not outlive them.
template <class X> struct used_where_written {
  static constexpr bool value = !(is_lazy<std::remove_cvref_t<X>> && std::is_lvalue_reference_v<X>);
  static_assert(value, "a tile expression is used where it is written: it cannot be kept");
};

template <int R> struct reg_col<float, R> {
  using map = be::column_map<R>;
  static constexpr int rows = R, cols = 1;
  float e[map::count];
  reg_col() = default;
  TK_DEVICE reg_col(float x) {
    TK_UNROLL
    for (int i = 0; i < map::count; ++i) e[i] = x;
  }
  template <class X>
    requires is_lazy<X>
  TK_DEVICE explicit reg_col(X const& x) {
    TK_UNROLL
    for (int i = 0; i < map::count; ++i) e[i] = x.template element<map>(i, i);
  }
};

// The i-th of the elements that lie in pairs, in the word that holds it.
template <class T> TK_DEVICE float half_of(std::uint32_t word, int i) {
  return be::widen(T{static_cast<decltype(T::bits)>(i % 2 ? word >> 8 * sizeof(T) : word)});
}

// The i-th of packed elements, which lie in e in order where a worker is one lane, and are read by
// themselves: compilers make vectors of that.
template <class T, class Word> TK_DEVICE float packed_value(Word const* e, int i) {
  if constexpr (be::worker_lanes == 1) {
    T x;
    __builtin_memcpy(&x, reinterpret_cast<T const*>(e) + i, sizeof x);
    return be::widen(x);
  } else {
    return half_of<T>(e[i / 2], i);
  }
}

// Where a worker is one lane, of each pair of columns the first (Half 0) or the second, for numbers
// in any order: element i of such a map is i + Half, i even. Halves of words of bf16 are numbers by
// one operation each; two neighbours that should lie in two registers take several.
template <int R, int C, int Half> struct half_map : be::fragment_map<R, C> {
  static constexpr int half = Half;
  static TK_BOTH constexpr int col(int i) { return be::fragment_map<R, C>::col(i) + Half; }
};
template <class Map> inline constexpr bool is_half = requires { Map::half; };
template <class Map> TK_DEVICE float element_in_pair(bf16 const* x, int i) {
  std::uint32_t w;
  __builtin_memcpy(&w, x + i, sizeof w);
  return std::bit_cast<float>(Map::half ? w & 0xffff0000 : w << 16);
}
// Whether an operand has such elements.
template <class X> inline constexpr bool has_halves = false;

template <int R, int C> struct reg_tile<float, R, C> {
  static_assert(is_shape<R, C>, "a tile's dimensions are multiples of 16, or its rows below 16");
  using element = float;
  using map = be::fragment_map<R, C>;
  static constexpr int rows = R, cols = C;
  float e[map::count];
  reg_tile() = default;
  TK_DEVICE reg_tile(float x) {
    TK_UNROLL
    for (int i = 0; i < map::count; ++i) e[i] = x;
  }
  template <class X, class D = std::remove_cvref_t<X>>
    requires is_lazy<D>
  TK_DEVICE reg_tile& operator=(X&& x) {
    static_assert(used_where_written<X>::value);
    static_assert((D::rows == R || D::rows == 1) && (D::cols == C || D::cols == 1),
                  "an expression is assigned to a tile of its own shape");
    map::for_each([&](int i, int r, int) { e[i] = x.template element<map>(i, r); });
    return *this;
  }
};

template <class T, int R, int C>
  requires(sizeof(T) <= 2)
struct reg_tile<T, R, C> {
  static_assert(is_shape<R, C>, "a tile's dimensions are multiples of 16, or its rows below 16");
  static_assert(!is_flat<R> || sizeof(T) == 2 || std::is_same_v<T, boolean>,
                "an fp8 tile has a multiple of 16 rows");
  using element = T;
  using map = be::fragment_map<R, C>;
  static constexpr int rows = R, cols = C;
  pair_of<T> e[map::count / 2];
  reg_tile() = default;
  template <class X>
    requires(!std::is_same_v<X, reg_tile>)
  TK_DEVICE reg_tile(X const& narrowed) {
    *this = narrowed;
  }
  template <class X>
    requires(!std::is_same_v<X, reg_tile>)
  TK_DEVICE reg_tile& operator=(X const& narrowed) {
    static_assert(X::rows == R && X::cols == C, "a cast is assigned to a tile of its own shape");
    constexpr bool is_cast = is_cast_to<X, T>;
    static_assert(is_cast, "a packed tile is assigned a cast to its own element type");
    if constexpr (is_cast && be::worker_lanes == 1)
      map::for_each([&](int i, int r, int) {
        T const x{static_cast<decltype(T::bits)>(be::pack(T{}, narrowed.value(i, r), 0.f))};
        __builtin_memcpy(reinterpret_cast<T*>(e) + i, &x, sizeof x);
      });
    else if constexpr (is_cast)
      map::for_each([&](int i, int r, int) {
        if (i % 2 == 0) e[i / 2] = static_cast<pair_of<T>>(narrowed.word(i / 2, r));
      });
    return *this;
  }
  TK_DEVICE std::uint32_t word(int i, int) const { return e[i]; }
  TK_DEVICE float value(int i) const { return packed_value<T>(e, i); }
};

template <class T, int R, int C> struct reg_row {
  using map = be::fragment_map<R, C>;
  static constexpr int rows = 1, cols = C, count = map::count / map::rows_per_lane;
  std::conditional_t<sizeof(T) == 4, float, std::uint32_t> e[count * sizeof(T) / 4];
  TK_DEVICE float value(int k) const {
    if constexpr (sizeof(T) == 4) return e[k];
    else return packed_value<T>(e, k);
  }
};

// The same as it was loaded, each value in a register of its own: nothing waits for it until it is
// used.
template <class T, int R, int C> struct loaded_row {
  using map = be::fragment_map<R, C>;
  static constexpr int rows = 1, cols = C, count = map::count / map::rows_per_lane;
  T e[count];
  TK_DEVICE float value(int k) const { return be::widen(e[k]); }
};

// The part-th V columns of a tile, as a tile. `part` must be known when the program is compiled (an
// unrolled loop's counter): registers have no addresses.
template <int V, int R, int C>
TK_DEVICE reg_tile<float, R, V> columns(reg_tile<float, R, C> const& x, int part) {
  static_assert(C % V == 0, "columns() cuts a tile into equal parts");
  reg_tile<float, R, V> y;
  if constexpr (be::worker_lanes == 1) {
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < V; ++c) y.e[r * V + c] = x.e[r * C + part * V + c];
    return y;
  }
  TK_UNROLL
  for (int i = 0; i < be::fragment_map<R, V>::count; ++i)
    y.e[i] = x.e[be::fragment_map<R, C>::template part<V>(i, part)];
  return y;
}
template <int V, class T, int R, int C>
  requires(sizeof(T) == 2)
TK_DEVICE reg_tile<T, R, V> columns(reg_tile<T, R, C> const& x, int part) {
  static_assert(C % V == 0, "columns() cuts a tile into equal parts");
  reg_tile<T, R, V> y;
  TK_UNROLL
  for (int i = 0; i < be::fragment_map<R, V>::count; i += 2)
    y.e[i / 2] = x.e[be::fragment_map<R, C>::template part<V>(i, part) / 2];
  return y;
}
// The first V columns of x, which the others then move up to: for loops over the parts of a tile
// whose code is long, and should be there once.
template <int V, int R, int C>
TK_DEVICE reg_tile<float, R, V> take_columns(reg_tile<float, R, C>& x) {
  using map = be::fragment_map<R, C>;
  auto const first = columns<V>(x, 0);
  if constexpr (be::worker_lanes == 1) {
    for (int r = 0; r < R; ++r)
      __builtin_memmove(x.e + r * C, x.e + r * C + V, sizeof(float) * (C - V));
    return first;
  }
  TK_UNROLL
  for (int part = 1; part < C / V; ++part) TK_UNROLL
  for (int i = 0; i < be::fragment_map<R, V>::count; ++i)
    x.e[map::template part<V>(i, part - 1)] = x.e[map::template part<V>(i, part)];
  return first;
}

}  // namespace tk
