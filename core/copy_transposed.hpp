// SPDX-License-Identifier: MIT
// Global to global, transposed, by the lanes of a worker: rows of the source are read, and rows of
// the destination written, in chunks of 16 bytes where they allow it, whatever the elements' type:
// their bits are moved. Between lies a tile in shared memory, which lanes fill by rows and read by
// columns. A worker of one lane has a whole block transposed by its backend.
#pragma once
#include <bit>

#include "core/move.hpp"

namespace tk {

// R rows of C columns, in chunks:  (row r, its chunk q) -> r C / n + (q ^ (r + r / n) % 8), n
// elements in a chunk. Eight lanes that write a row's chunks, or read a column's elements n rows
// apart, meet no bank twice.
template <class T, int R, int C> struct alignas(16) transposing_tile {
  static constexpr int in_chunk = 16 / static_cast<int>(sizeof(T)), chunks = C / in_chunk;
  static_assert(R % in_chunk == 0, "the rows are whole chunks of the destination");
  static_assert(chunks % 8 == 0, "the columns are multiples of 128 bytes");
  static TK_BOTH constexpr int place(int row, int chunk) {
    return row * chunks + (chunk ^ (row + row / in_chunk) % 8);
  }
  chunk16 data[R * chunks];
};

template <class T> TK_DEVICE void put_bits(T* p, std::uint32_t bits) {
  if constexpr (sizeof(T) == 4) *p = std::bit_cast<T>(bits);
  else p->bits = static_cast<decltype(p->bits)>(bits);
}

// The word of a tile that has column `col` of a row, a multiple of the elements in a word.
template <class T, int R, int C>
TK_DEVICE std::uint32_t word_at(transposing_tile<T, R, C> const& x, int row, int col) {
  using tile = transposing_tile<T, R, C>;
  constexpr int n = tile::in_chunk, in_word = n / 4;
  return x.data[tile::place(row, col / n)].w[col % n / in_word];
}
// The bits of one of the elements of a word.
template <class T> TK_DEVICE std::uint32_t bits_of_word(std::uint32_t word, int element) {
  constexpr int bits = 8 * sizeof(T);
  if constexpr (bits == 32) return word;
  else return word >> element * bits & ((1u << bits) - 1);
}

// dst = src transposed, of R rows and C columns of src from (row, col) on: what lies outside of src
// is not written. Lanes have read `through` when it returns.
template <class Worker, class T, int R, int C>
TK_DEVICE void copy_transposed(Worker const& w, transposing_tile<T, R, C>& through,
                               tensor<T> const& dst, int dst_vector_width,
                               tensor<T const> const& src, int src_vector_width, int row, int col,
                               int i, int j) {
  using tile = transposing_tile<T, R, C>;
  int const rows = static_cast<int>(src.rows) - row, cols = static_cast<int>(src.cols) - col;
  if constexpr (be::worker_lanes == 1)
    return be::fragment_map<R, C>::transpose(
        reinterpret_cast<T*>(through.data), dst.at(col, row, i, j), dst.row_stride,
        src.at(row, col, i, j), src.row_stride, rows < R ? rows : R, cols < C ? cols : C,
        static_cast<std::int64_t>(sizeof(T)) * dst.rows * dst.cols * dst.n0 * dst.n1);
  constexpr int n = tile::in_chunk, chunks = tile::chunks, down = R / n;
  constexpr int each = R * chunks / be::worker_lanes, at_once = each < 8 ? each : 8;
  static_assert(each * be::worker_lanes == R * chunks && each % at_once == 0,
                "every lane moves as many chunks");
  for (int first = 0; first < each; first += at_once) {  // all are on their way before one is kept
    chunk16 x[at_once];
    TK_UNROLL
    for (int k = 0; k < at_once; ++k) {
      int const c = be::worker_lane() + (first + k) * be::worker_lanes;
      x[k] = read_chunk(src, src_vector_width, row + c / chunks, col + c % chunks * n, i, j);
    }
    TK_UNROLL
    for (int k = 0; k < at_once; ++k) {
      int const c = be::worker_lane() + (first + k) * be::worker_lanes;
      through.data[tile::place(c / chunks, c % chunks)] = x[k];
    }
  }
  w.sync();  // the tile is there
  constexpr int in_word = n / 4;
  if (dst_vector_width * static_cast<int>(sizeof(T)) >= 8) {
    // A lane has n rows of the columns in a word.
    constexpr int pieces = R * C / (n * in_word);
    static_assert(pieces % be::worker_lanes == 0 || pieces < be::worker_lanes);
    for (int at = be::worker_lane(); at < pieces; at += be::worker_lanes) {
      int const c = at / down * in_word, r = at % down * n;
      if (r >= rows || c >= cols) continue;
      std::uint32_t words[n];
      TK_UNROLL
      for (int e = 0; e < n; ++e) words[e] = word_at(through, r + e, c);
      TK_UNROLL
      for (int p = 0; p < in_word; ++p) {
        if (c + p >= cols) break;
        T* const to = dst.at(col + c + p, row + r, i, j);
        if (r + n > rows) {
          for (int e = 0; r + e < rows; ++e)
            put_bits(to + e, bits_of_word<T>(word_at(through, r + e, c), p));
          continue;
        }
        chunk16 x{};
        TK_UNROLL
        for (int e = 0; e < n; ++e)
          x.w[e / in_word] |= bits_of_word<T>(words[e], p) << e % in_word * (128 / n);
        if (dst_vector_width == n) {
          write_words<4>(to, x.w);
        } else {
          write_words<2>(to, x.w);
          write_words<2>(to + n / 2, x.w + 2);
        }
      }
    }
  } else {  // lanes side by side write elements side by side
    for (int at = be::worker_lane(); at < R * C; at += be::worker_lanes) {
      int const c = at / R, r = at % R;
      if (r < rows && c < cols)
        put_bits(dst.at(col + c, row + r, i, j),
                 bits_of_word<T>(word_at(through, r, c / in_word * in_word), c % in_word));
    }
  }
  w.sync();  // all have read
}

}  // namespace tk
