// SPDX-License-Identifier: MIT
// Rows that begin anywhere in memory, in flat tiles whose lanes have the same columns of each:
//   ask(asked, rows, row, col)   the words of 4 bytes that a tile's chunks lie in, on their way to
//                                registers; nothing waits for them
//   load(x, asked, col)          the tile that they make
//   store_across(rows, vector_width, row, col, cast<T>(x))
//                                by whole chunks of memory: a lane's begins with the last columns
//                                of the lane before. All lanes of a warp call it
// Rows, vector_width and S are those of core/rows.hpp; columns are not below 0. Nothing is read or
// written outside of a row.
#pragma once
#include "core/rows.hpp"

namespace tk {

// Word k of a chunk begins at its element k in_word, less `before` of the row.
template <class T, int R, int C> struct asked_rows {
  using map = be::fragment_map<R, C>;
  using words = chunk_words<T>;
  static constexpr int count = words::words + (words::in_word > 1 ? 1 : 0);
  std::uint32_t w[map::count / words::n][count];
  int before[map::rows_per_lane];
};

// What a row that ends `left` elements after p has of the word at element e, which may begin `out`
// elements before the row. The second of two alone comes first.
template <class T> TK_DEVICE std::uint32_t part_of_word(T const* p, int e, int out, int left) {
  constexpr int in_word = chunk_words<T>::in_word;
  std::uint32_t w = 0;
  if constexpr (in_word == 4) {
    TK_UNROLL
    for (int j = 0; j < in_word; ++j)
      if (out <= j && e + j < left) w |= bits_of_element(p[e + j]) << 8 * j;
  } else {
    if (e + out < left) w = bits_of_element(p[e + out]);
  }
  return w;
}
template <int S = 1, class T, int R, int C>
TK_DEVICE void ask(asked_rows<T, R, C>& x, rows_with<T const> auto const& src, int row, int col) {
  using asked = asked_rows<T, R, C>;
  constexpr int words = asked::words::words, n = asked::words::n, in_word = asked::words::in_word;
  flat_lines<T const, R, C, S> const from(src, row, col);
  TK_UNROLL
  for (int r = 0; r < asked::map::rows_per_lane; ++r)
    x.before[r] = shift_of(from.line[r]) % in_word;
  for_each_chunk<T, typename asked::map, false>(
      false, [&](auto, int i, int r, int c) __attribute__((always_inline)) {
        auto& w = x.w[i / n];
        int const left = from.left[r] - c, before = x.before[r];
        T const* const p = from.line[r] + c - before;
        // A word may begin before the row.
        bool const begins = c == 0 && from.first == 0 && before != 0,
                   inside = !begins && left >= (before == 0 ? n : n + in_word - before);
        TK_UNROLL
        for (int k = 0; k < asked::count; ++k) {
          w[k] = 0;
          if (inside && (k < words || before != 0)) read_words<1>(w + k, p + k * in_word);
        }
        if (inside || left <= 0) return;
        TK_UNROLL
        for (int k = 0; k < asked::count; ++k) {
          int const e = k * in_word - before, out = k == 0 && begins ? before : 0;
          if (k == words && before == 0) continue;
          if (out == 0 && e + in_word <= left) read_words<1>(w + k, p + k * in_word);
          else w[k] = part_of_word(p + before, e, out, left);
        }
      });
}
template <int S = 1, class T, int R, int C>
TK_DEVICE void load(reg_tile<T, R, C>& dst, asked_rows<T, R, C> const& x, int col) {
  using asked = asked_rows<T, R, C>;
  constexpr int n = asked::words::n;
  bool const begins = col + flat_places<R, C, S>::lane_col() == 0;
  for_each_chunk<T, typename asked::map, true>(
      true, [&](auto, int i, int r, int c) __attribute__((always_inline)) {
        auto const& w = x.w[i / n];
        chunk_words<T> y;
        TK_UNROLL
        for (int k = 0; k < asked::words::words; ++k) {
          if constexpr (sizeof(T) == 4) {
            y.w[k] = w[k];
          } else {
            bool const cut = sizeof(T) == 2 && k == 0 && c == 0 && begins && x.before[r] != 0;
            std::uint32_t const low = cut ? w[k] << 16 : w[k];
            y.w[k] = words_across(low, w[k + 1], x.before[r] * asked::words::element_bits);
          }
        }
        y.put(dst, i);
      });
}

// Runs of 8 columns of neighbours that are inside the row: all chunks are whole but that which the
// first lane begins and the last one goes on with, which the first writes, word by word.
template <int Lanes, class T>
TK_DEVICE void store_run(T* p, int shift, bool begins, chunk_words<T> const& before,
                         chunk_words<T> const& mine) {
  using words = chunk_words<T>;
  constexpr int n = words::n, in_word = words::in_word;
  auto const all = shift == 0 ? mine : words::take_across(before, mine, n - shift);
  p -= shift;
  if (!begins || shift == 0) return write_words<words::words>(p, all.w);
  T* const last = p + 8 * Lanes;
  TK_UNROLL
  for (int k = 0; k < words::words; ++k) {
    int const e = k * in_word;
    if (e >= shift || e + in_word <= shift) {
      write_words<1>((e >= shift ? p : last) + e, all.w + k);
    } else {
      TK_UNROLL
      for (int j = e; j < e + in_word; ++j) (j >= shift ? p : last)[j] = all.element(j);
    }
  }
}
template <int S = 1, class Rows, class X>
  requires requires(Rows const& dst) { line_of(dst, 0); }
TK_DEVICE void store_across(Rows const& dst, int vector_width, int row, int col, X const& x) {
  using T = std::remove_pointer_t<decltype(line_of(dst, 0).data)>;
  using words = chunk_words<T>;
  using places = flat_places<X::rows, X::cols, S>;
  constexpr int n = words::n, lanes = S > 1 ? places::lanes : be::warp_lanes;
  if (vector_width >= n) return store<S>(dst, vector_width, row, col, x);
  flat_lines<T, X::rows, X::cols, S> const to(dst, row, col);
  int const lane = be::worker_lane() % lanes;
  for_each_chunk<T, be::fragment_map<X::rows, X::cols>, false>(
      false, [&](auto, int i, int r, int c) __attribute__((always_inline)) {
        int const left = to.left[r] - c, shift = shift_of(to.line[r]);
        T* const p = to.line[r] + c;
        // Of a run the first chunk follows on the last of the lane before.
        int const in_run = i % 8, i_before = i - in_run + (in_run == 0 ? 8 : in_run) - n;
        words before, mine;
        TK_UNROLL
        for (int k = 0; k < words::words; ++k) {
          before.w[k] = word_of_chunk<T>(x, i_before, k, r);
          if (in_run == 0) before.w[k] = be::shuffle_before(before.w[k], lanes);
          mine.w[k] = word_of_chunk<T>(x, i, k, r);
        }
        if (left + in_run + 8 * lane >= 8 * lanes) {
          store_run<lanes>(p, shift, in_run == 0 && lane == 0, before, mine);
        } else {
          TK_UNROLL
          for (int e = 0; e < n; ++e)
            if (e < left) p[e] = mine.element(e);
        }
      });
}

}  // namespace tk
