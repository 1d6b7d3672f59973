// SPDX-License-Identifier: MIT
// The moments of Based's feature map. Of a vector x of 16 numbers there are 153: 1, the 16 x_i, and
// the 136 products x_i x_j, i <= j: in memory in this order, pairs lexicographically. In kernels
// they are 160 columns, ten tiles of 16, so made that each is a product of x and of its columns
// exchanged (core/exchange_columns.hpp):
//   tile 0      x_c x_c
//   tiles 1..7  x_c x_(c ^ s), where c has the tile's bit another s with it: each pair once
//   tile 8      x_c x_(c ^ 4) where c lacks bit 4, else 1 in column 4 and zeros
//   tile 9      x_c
// A query meets them with weights: with s = scale q.k,
//   1 + s + s^2 / 2 = 1 + scale sum_i q_i k_i + scale^2 (sum_i q_i^2 k_i^2 / 2 + sum_(i<j) ...)
#pragma once
#include <cstdint>

#include "core/schedule.hpp"

namespace tk {

struct based_moments {
  static constexpr int width = 16, count = 153, columns = 160, tiles = 10;
  static constexpr int products_with_one = 8, linear = 9, of_one = 4;

  // Which columns a tile exchanges: those that have its bit, and the others.
  static TK_BOTH constexpr int bit_of(int tile) { return nibble(0x0421188880, tile); }
  static TK_BOTH constexpr int exchange(int tile, int col) {
    return nibble(col & bit_of(tile) ? 0x0067'3fdb90 : 0x0425'1eca80, tile);
  }
  // The row in memory of a column; -1: it is zero.
  static TK_BOTH constexpr int row_of(int column) {
    int const tile = column / width, c = column % width;
    if (tile == linear) return 1 + c;
    if (tile == products_with_one && (c & 4)) return c == of_one ? 0 : -1;
    int const other = c ^ exchange(tile, c), i = c < other ? c : other, j = c < other ? other : c;
    return 1 + width + i * width - i * (i - 1) / 2 + (j - i);
  }
  // A query's weight.
  static TK_BOTH constexpr float weight(int column, float scale) {
    int const tile = column / width;
    if (tile == linear) return scale;
    if (tile == 0) return scale * scale / 2;
    return column == products_with_one * width + of_one ? 1 : scale * scale;
  }

 private:
  static TK_BOTH constexpr int nibble(std::uint64_t x, int i) {
    return static_cast<int>(x >> 4 * i & 15);
  }
};

// Each moment has one column.
constexpr bool moments_are_complete() {
  bool seen[based_moments::count] = {};
  for (int c = 0; c < based_moments::columns; ++c) {
    int const row = based_moments::row_of(c);
    if (row < 0) continue;
    if (row >= based_moments::count || seen[row]) return false;
    seen[row] = true;
  }
  for (bool const x : seen)
    if (!x) return false;
  return true;
}
static_assert(moments_are_complete());

}  // namespace tk
