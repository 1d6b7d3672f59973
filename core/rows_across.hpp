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
#include "core/block.hpp"
#include "core/rows.hpp"

namespace tk {

// Word k of a chunk begins at its element k in_word, less `before` of the row. Elements of 16 bits
// at a row's ends may lie in words of which it has no more: they are apart, so that their loads
// wait for no others; `end` is the column of the last one and `before`, less the lane's first
// column, or -1 where this lane has none.
template <class T, int R, int C> struct asked_rows {
  using map = be::fragment_map<R, C>;
  using words = chunk_words<T>;
  static constexpr int count = words::words + (words::in_word > 1 ? 1 : 0);
  std::uint32_t w[map::count / words::n][count];
  int place[map::rows_per_lane];  // `before`, and where there may be ends 2 `end`
  struct ends {
    std::uint32_t first[map::rows_per_lane], last[map::rows_per_lane];
  };
  static constexpr bool has_ends = sizeof(T) == 2;
  [[no_unique_address]] std::conditional_t<has_ends, ends, no_memory> of_row;
  TK_DEVICE int before(int r) const { return has_ends ? place[r] & 1 : place[r]; }
  TK_DEVICE int end(int r) const { return place[r] >> 1; }
};

// What a row that ends `left` elements after p has of the four from element e on, which may begin
// `out` elements before the row.
template <class T> TK_DEVICE std::uint32_t part_of_word(T const* p, int e, int out, int left) {
  std::uint32_t w = 0;
  TK_UNROLL
  for (int j = 0; j < 4; ++j)
    if (out <= j && e + j < left) w |= bits_of_element(p[e + j]) << 8 * j;
  return w;
}
template <int S, class T, int R, int C>
TK_DEVICE void ask_ends(asked_rows<T, R, C>& x, flat_lines<T const, R, C, S> const& from) {
  using asked = asked_rows<T, R, C>;
  auto& [first, last] = x.of_row;
  int end[asked::map::rows_per_lane];
  TK_UNROLL
  for (int& e : end) e = -1;
  for_each_chunk<T, typename asked::map, true>(
      true, [&](auto, int, int r, int c) __attribute__((always_inline)) {
        int const at = from.left[r] - 1 + x.place[r], in_chunk = from.left[r] - 1 - c;
        if (at % 2 == 0 && in_chunk >= 0 && in_chunk < asked::words::n) end[r] = at;
      });
  TK_UNROLL
  for (int r = 0; r < asked::map::rows_per_lane; ++r) {
    T const* const p = from.line[r];
    int const before = x.place[r];
    first[r] = last[r] = 0;
    if (from.first == 0 && before != 0 && from.left[r] > 0) first[r] = bits_of_element(*p);
    if (end[r] >= 0) last[r] = bits_of_element(p[end[r] - before]);
    x.place[r] += 2 * end[r];
  }
}
template <int S = 1, class T, int R, int C>
TK_DEVICE void ask(asked_rows<T, R, C>& x, rows_with<T const> auto const& src, int row, int col) {
  using asked = asked_rows<T, R, C>;
  constexpr int words = asked::words::words, n = asked::words::n, in_word = asked::words::in_word;
  flat_lines<T const, R, C, S> const from(src, row, col);
  TK_UNROLL
  for (int r = 0; r < asked::map::rows_per_lane; ++r) x.place[r] = shift_of(from.line[r]) % in_word;
  if constexpr (asked::has_ends) ask_ends<S>(x, from);
  for_each_chunk<T, typename asked::map, false>(
      false, [&](auto, int i, int r, int c) __attribute__((always_inline)) {
        auto& w = x.w[i / n];
        int const left = from.left[r] - c, before = x.before(r);
        T const* const p = from.line[r] + c - before;
        bool const begins = c == 0 && from.first == 0;  // a word may, before the row
        TK_UNROLL
        for (int k = 0; k < asked::count; ++k) {
          int const e = k * in_word - before, out = k == 0 && begins ? before : 0;
          w[k] = 0;
          if (k == words && before == 0) continue;
          if (out == 0 && e + in_word <= left) read_words<1>(w + k, p + k * in_word);
          else if constexpr (in_word == 4) w[k] = part_of_word(p + before, e, out, left);
        }
      });
}
template <int S = 1, class T, int R, int C>
TK_DEVICE void load(reg_tile<T, R, C>& dst, asked_rows<T, R, C> const& x, int col) {
  using asked = asked_rows<T, R, C>;
  constexpr int n = asked::words::n;
  [[maybe_unused]] bool const begins = col + flat_places<R, C, S>::lane_col() == 0;
  for_each_chunk<T, typename asked::map, true>(
      true, [&](auto, int i, int r, int c) __attribute__((always_inline)) {
        std::uint32_t w[asked::count];
        TK_UNROLL
        for (int k = 0; k < asked::count; ++k) w[k] = x.w[i / n][k];
        chunk_words<T> y;
        if constexpr (asked::has_ends) {
          if (c == 0 && begins && x.before(r) != 0) w[0] = x.of_row.first[r] << 16;
          if (int const at = x.end(r) - c; at >= 0 && at < 2 * asked::count) {
            TK_UNROLL
            for (int k = 0; k < asked::count; ++k)
              if (at == 2 * k) w[k] = x.of_row.last[r];
          }
        }
        TK_UNROLL
        for (int k = 0; k < asked::words::words; ++k)
          if constexpr (sizeof(T) == 4) y.w[k] = w[k];
          else y.w[k] = words_across(w[k], w[k + 1], x.before(r) * asked::words::element_bits);
        y.put(dst, i);
      });
}

// The words from element `from` on, 0 < from < n, of two chunks of n, one after the other.
template <class T>
TK_DEVICE chunk_words<T> take_across(chunk_words<T> const& x, chunk_words<T> const& y, int from) {
  constexpr int words = chunk_words<T>::words, in_word = chunk_words<T>::in_word;
  std::uint32_t all[2 * words];
  TK_UNROLL
  for (int k = 0; k < words; ++k) all[k] = x.w[k], all[words + k] = y.w[k];
  TK_UNROLL
  for (int bit = words / 2; bit > 0; bit /= 2) TK_UNROLL
  for (int k = 0; k + bit < 2 * words; ++k) all[k] = from / in_word & bit ? all[k + bit] : all[k];
  chunk_words<T> z;
  TK_UNROLL
  for (int k = 0; k < words; ++k)
    z.w[k] = words_across(all[k], all[k + 1], from % in_word * chunk_words<T>::element_bits);
  return z;
}
// Runs of 8 columns of neighbours that are inside the row: all chunks are whole but that which the
// first lane begins and the last one goes on with, which the first writes, word by word.
template <int Lanes, class T>
TK_DEVICE void store_run(T* p, int shift, bool begins, chunk_words<T> const& before,
                         chunk_words<T> const& mine) {
  using words = chunk_words<T>;
  constexpr int n = words::n, in_word = words::in_word;
  auto const all = shift == 0 ? mine : take_across(before, mine, n - shift);
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
