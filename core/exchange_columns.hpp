// SPDX-License-Identifier: MIT
// Columns of register tiles that change places, as butterflies do, and tiles made of others'
// columns. A lane's columns and the lanes beside it differ in bits of the column's number, so that
// an exchange is a permutation of registers, or one shuffle, or both.
//   xor_cols<S>(x)          y[r, c] = x[r, c ^ S], 0 < S < 16
//   choose_cols<Bit>(a, b)  y[r, c] = a[r, c] where c & Bit is 0, else b[r, c]; Bit 1, 2, 4 or 8
//   put_columns(y, x, i)    the i-th columns of y, as many as x has, become x
//   rounded_product(a, b)   y[r, c] = a[r, c] b[r, c], rounded to nearest even once
// Tiles are of 16-bit elements, or (the first two) of fp32. They return tiles: what a product reads
// is named.
#pragma once
#include "core/shuffle_word.hpp"
#include "core/tile.hpp"

namespace tk {

// How an exchange of columns goes: element i comes from element i ^ `elements` of the lane whose
// number differs in the bits `lanes`.
template <class Map, int S> struct column_exchange {
  static TK_BOTH constexpr int lane_bits() {
    int bits = 0;
    for (int bit = 1; bit < Map::lanes; bit *= 2)
      if (Map::lane_col(bit) & S) bits |= bit;
    return bits;
  }
  static TK_BOTH constexpr int element_bits() {
    int bits = 0;
    for (int bit = 1; bit < Map::count; bit *= 2)
      if (Map::row_index(bit) == 0 && Map::col(bit) & S && Map::col(bit) < 16) bits |= bit;
    return bits;
  }
  static TK_BOTH constexpr int exchanged() {
    int columns = 0;
    for (int bit = 1; bit < Map::lanes; bit *= 2)
      if (lane_bits() & bit) columns |= Map::lane_col(bit);
    for (int bit = 1; bit < Map::count; bit *= 2)
      if (element_bits() & bit) columns |= Map::col(bit);
    return columns;
  }
  static constexpr int lanes = lane_bits(), elements = element_bits();
  static_assert(exchanged() == S, "the columns of a register tile differ bit by bit");
};

template <int S, int R, int C>
TK_DEVICE reg_tile<float, R, C> xor_cols(reg_tile<float, R, C> const& x) {
  static_assert(S > 0 && S < 16, "xor_cols exchanges columns of the same 16");
  using by = column_exchange<be::fragment_map<R, C>, S>;
  reg_tile<float, R, C> y;
  TK_UNROLL
  for (int i = 0; i < be::fragment_map<R, C>::count; ++i) {
    y.e[i] = x.e[i ^ by::elements];
    if constexpr (by::lanes != 0) y.e[i] = be::shuffle_xor(y.e[i], by::lanes);
  }
  return y;
}
template <int S, class T, int R, int C>
  requires(sizeof(T) == 2)
TK_DEVICE reg_tile<T, R, C> xor_cols(reg_tile<T, R, C> const& x) {
  static_assert(S > 0 && S < 16, "xor_cols exchanges columns of the same 16");
  using by = column_exchange<be::fragment_map<R, C>, S>;
  reg_tile<T, R, C> y;
  TK_UNROLL
  for (int i = 0; i < be::fragment_map<R, C>::count / 2; ++i) {
    std::uint32_t w = x.e[i ^ by::elements / 2];
    if constexpr (by::elements % 2 != 0) w = w >> 16 | w << 16;
    if constexpr (by::lanes != 0) w = shuffle_word(w, by::lanes);
    y.e[i] = w;
  }
  return y;
}

template <int Bit, class T, int R, int C>
  requires(sizeof(T) >= 2)
TK_DEVICE reg_tile<T, R, C> choose_cols(reg_tile<T, R, C> const& a, reg_tile<T, R, C> const& b) {
  static_assert(Bit == 1 || Bit == 2 || Bit == 4 || Bit == 8, "choose_cols takes a column's bit");
  using map = be::fragment_map<R, C>;
  using by = column_exchange<map, Bit>;
  constexpr int in_word = sizeof(T) == 2 ? 2 : 1;
  reg_tile<T, R, C> y;
  [[maybe_unused]] bool const second = (map::lane_col(be::worker_lane()) & Bit) != 0;
  TK_UNROLL
  for (int i = 0; i < map::count / in_word; ++i) {
    if constexpr (by::lanes != 0) y.e[i] = second ? b.e[i] : a.e[i];
    else if constexpr (in_word == 2 && by::elements == 1)
      y.e[i] = (a.e[i] & 0xffff) | (b.e[i] & 0xffff0000);
    else y.e[i] = map::col(i * in_word) & Bit ? b.e[i] : a.e[i];
  }
  return y;
}

template <class T, int R, int C, int V>
  requires(sizeof(T) == 2)
TK_DEVICE void put_columns(reg_tile<T, R, C>& y, reg_tile<T, R, V> const& x, int part) {
  static_assert(C % V == 0, "put_columns fills one of a tile's equal parts");
  TK_UNROLL
  for (int i = 0; i < be::fragment_map<R, V>::count; i += 2)
    y.e[be::fragment_map<R, C>::template part<V>(i, part) / 2] = x.e[i / 2];
}

template <class T, int R, int C>
  requires(sizeof(T) == 2)
TK_DEVICE reg_tile<T, R, C> rounded_product(reg_tile<T, R, C> const& a,
                                            reg_tile<T, R, C> const& b) {
  reg_tile<T, R, C> y;
  TK_UNROLL
  for (int i = 0; i < be::fragment_map<R, C>::count / 2; ++i)
    y.e[i] = be::multiply_pairs(T{}, a.e[i], b.e[i]);
  return y;
}

}  // namespace tk
