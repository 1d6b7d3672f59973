// SPDX-License-Identifier: MIT
// Flat tiles (core/rows.hpp) whose rows go their own ways: each walks through rows of a tensor from
// a place of its own, while its columns are those of the tile. A lane has columns of one row alone.
//   this_row<R, C>(row)   of the R rows from `row` on, the one that is here: what follows from it
//                         differs from row to row of a tile, and so may the number of steps
//   walk<R, C>(x, first, count, i)
//                         `count` rows of x[i, 0] from `first` on, for the tile's row that is here
//   load(tile, walk, vector_width, n, col), store(walk, vector_width, n, col, cast<T>(tile))
//                         the n-th of them; none below 0, or from `count` on
//   load_interleaved(rows, p, cols, vector_width, col)
//                         K rows of values: in column c the k-th is p[c K + k]; 0 from `cols` on
#pragma once
#include "core/rows.hpp"

namespace tk {

template <int R, int C> TK_DEVICE int this_row(int row) {
  static_assert(flat_rows_per_lane<R> == 1, "a lane has one row of a tile that walks");
  return row + flat_places<R, C, 1>::lane_row();
}

template <class T> struct row_walk {
  T* data;  // row 0
  std::int64_t rows, cols, row_stride;
  int place;  // of the row that is here, in the tile
};
template <class T> TK_BOTH row_line<T> line_of(row_walk<T> const& x, int row) {
  int const n = row - x.place;
  return {x.data + n * x.row_stride, n >= 0 && n < x.rows};
}
template <int R, int C, class T>
TK_DEVICE row_walk<T> walk(tensor<T> const& x, int first, int count, int i) {
  return {x.at(first, 0, i), count, x.cols, x.row_stride, this_row<R, C>(0)};
}

// vector_width is that of p.
template <int K, class T, int R, int C>
TK_DEVICE void load_interleaved(reg_row<float, R, C> (&dst)[K], T const* p, int cols,
                                int vector_width, int col) {
  using map = be::fragment_map<R, C>;
  constexpr int n = chunk_of<T>, run = map::run;
  static_assert(K * run % n == 0, "what a run of columns has are whole chunks");
  int const first = col + flat_places<R, C, 1>::lane_col();
  TK_UNROLL
  for (int i = 0; i < reg_row<float, R, C>::count; i += run) {
    int const c = first + map::col(i), there = cols - c;
    int const left = (there < 0 ? 0 : there < run ? there : run) * K;
    TK_UNROLL
    for (int j = 0; j < K * run; j += n) {
      T const* const from = p + (std::int64_t{c} * K + j);
      chunk_words<T> x;
      x.template read<false>(from, 0, left - j, vector_width >= n);
      TK_UNROLL
      for (int e = 0; e < n; ++e) {
        float& to = dst[(j + e) % K].e[i + (j + e) / K];
        if constexpr (sizeof(T) == 4) to = std::bit_cast<float>(x.w[e]);
        else to = packed_value<T>(x.w, e);
      }
    }
  }
}

}  // namespace tk
