// SPDX-License-Identifier: MIT
// Flat tiles: R < 16 long rows, each in all lanes of a warp or of the worker (core/flat_map.hpp).
//   load(x, tensor, vector_width, row, col)
//                                           from global memory; what lies outside is zero; an fp32
//                                           tile from a tensor of any type
//   load_add(x, tensor, vector_width, row, col)
//                                           the same, added to an fp32 tile
//   load(x, vectors)                        from shared memory, a vector for each row: all of it,
//                                           whether load_async wrote it or not
//   find(x, tensor, row, col, copied)       where a worker is one lane: the row itself, or a copy
//   load(row, p, cols, vector_width, col)   a reg_row of any tile: p[col + ...] of p[0, cols)
//   store(tensor, vector_width, row, col, cast<T>(x))
//                                           to global memory, clipped; T may be of 1 byte
//   row_sum<All>(c, x, buffer)              of any tile; c is the context, whose scratch has
//                                           row_exchange<R, All> exchange
//   row_total<F, All, S>(c, x, buffer)      the same of any F, of each lane's share x; row_totals
//                                           that of several, in place
// Instead of a tensor load and store take whatever has rows (rows_with).
// load<S> and store<S> take S short rows side by side (flat_places); <S, true> rows that begin and
// end at multiples of 16 bytes, and test nothing; load<S, Whole, 2> rows of which each element is
// two columns', and is loaded twice; vector_width is that of its elements.
// Columns below 0 are outside, too. vector_width (core/move.hpp) is that from (row, col) on.
// With All, the workers of a block, or of a cluster's, have tiles at the same rows, and a sum is
// over those of all workers. All lanes that hold columns of a row call row_sum. `buffer` is 0 in
// the first call of a task, and each call changes it. Every lane gets the same sums, added in the
// layout's order: equal bits every time. When a sum returns, all lanes have read what they read
// before it. After the last sum of a task, rejoin<R, All>(c) lets the next task begin with buffer
// 0.
#pragma once
#include "core/chunk.hpp"
#include "core/move.hpp"
#include "core/row_totals.hpp"
#include "core/vector.hpp"

#include "core/flat_map.hpp"

namespace tk {

// ---- movement, by chunks: of 16 bytes, or 8 of 1-byte elements
// Whether each chunk from column `col` on is inside or outside the tensor as a whole, and can move
// as one.
template <class T> TK_DEVICE bool in_chunks(std::int64_t cols, int vector_width, int col) {
  return vector_width >= chunk_of<T> && cols % chunk_of<T> == 0 && col % chunk_of<T> == 0;
}
// Where S short rows lie side by side in each row of a tile: row q S + s of R S rows in the s-th
// part of the tile's row q, which then has one run of columns for each lane.
template <int R, int C, int S> struct flat_places {
  using map = be::fragment_map<R, C>;
  static constexpr int lanes = be::worker_lanes == 1 ? 1 : C / S / 8;  // of a short row
  static_assert(S == 1 || (rows_in_warps<R> && C == 8 * be::warp_lanes && C % (8 * S) == 0));
  static TK_DEVICE int lane_row() {
    int const lane = be::worker_lane();
    return map::lane_row(lane) * S + (S > 1 ? lane % be::warp_lanes / lanes : 0);
  }
  static TK_DEVICE int lane_col() {
    int const lane = be::worker_lane();
    return S > 1 ? 8 * (lane % lanes) : map::lane_col(lane);
  }
  static TK_BOTH constexpr int row(int r) { return r * S; }
};
template <int R, int C, int S> TK_DEVICE int flat_lane_col() {
  if constexpr (is_flat<R>) return flat_places<R, C, S>::lane_col();
  else return be::fragment_map<R, C>::lane_col(be::worker_lane());
}
// A row of a tensor, or of whatever has rows: `there` is false where it has no such row.
template <class T> struct row_line {
  T* data;
  bool there;
};
template <class T> TK_BOTH row_line<T> line_of(tensor<T> const& x, int row) {
  return {x.data + steps_of(row, x.row_stride), row < x.rows};
}
template <class X, class T>
concept rows_with = requires(X const& x) {
  { line_of(x, 0) } -> std::same_as<row_line<T>>;
  x.cols;
};
// The column at which a row ends.
template <class Rows> TK_BOTH std::int64_t end_of(Rows const& x, int) { return x.cols; }
// A lane's rows, where they have been found.
template <class T, int Count> struct found_rows {
  T* data[Count];
  bool there[Count];
  std::int64_t cols;
};
template <class T, int Count>
TK_BOTH row_line<T> line_of(found_rows<T, Count> const& x, int of_lane) {
  return {x.data[of_lane], x.there[of_lane]};
}
template <class X> inline constexpr bool are_found = false;
template <class T, int Count> inline constexpr bool are_found<found_rows<T, Count>> = true;
// shift_of the row that this lane has of R S rows from `row` on.
template <int R, int C, int S = 1, class Rows> TK_DEVICE int lane_shift(Rows const& x, int row) {
  static_assert(flat_rows_per_lane<R> == 1, "a lane has one shift where it has one row");
  return shift_of(line_of(x, row + flat_places<R, C, S>::lane_row()).data);
}
// Of each row, where this lane begins, and from which to which column from there on the tensor is.
// It has nothing of rows below the last; that a bound depends on its row keeps it from being
// computed, for every column, ahead of a loop over rows.
// With Each 2 an element is two columns' and line[r] + c / 2 that of column c.
template <class T, int R, int C, int S = 1, int Each = 1> struct flat_lines {
  using map = be::fragment_map<R, C>;
  using places = flat_places<R, C, S>;
  static constexpr int nothing_left = -(1 << 30);
  T* line[map::rows_per_lane];
  int first, left[map::rows_per_lane];
  template <rows_with<T> Rows> TK_DEVICE flat_lines(Rows const& x, int row, int col) {
    first = -(col + places::lane_col());
    row += places::lane_row();
    TK_UNROLL
    for (int r = 0; r < map::rows_per_lane; ++r) {
      int const at = are_found<Rows> ? r : row + places::row(r);
      auto const from = line_of(x, at);
      line[r] = from.data - first / Each;
      left[r] = from.there ? static_cast<int>(end_of(x, at)) + first : nothing_left;
    }
  }
};
// body(whole, i, r, c) for each chunk in the first Rows of a lane's rows: i is the chunk's first
// element, r its row among the lane's, c its first column less the lane's first one. `whole` is a
// compile-time constant there, so that no chunk tests it.
template <class T, class Map, bool Whole, int Rows = Map::rows_per_lane, class Body>
TK_DEVICE void for_each_chunk(bool whole, Body body) {
  static_assert(is_flat<Map::rows>, "a flat tile has less than 16 rows");
  auto const all = [&](auto is_whole) __attribute__((always_inline)) {
    TK_UNROLL
    for (int i = 0; i < Rows * (Map::count / Map::rows_per_lane); i += chunk_of<T>)
      body(is_whole, i, Map::row_index(i), Map::col(i));
  };
  if constexpr (Whole) all(std::true_type{});
  else if (whole) all(std::true_type{});
  else all(std::false_type{});
}

// Where a worker is one lane, a flat row lies in it as in memory, and moves at once.
inline constexpr bool whole_rows = be::worker_lanes == 1;
// What such a worker holds elements of rows as: compilers make no SIMD of conversions of fp16,
// which is widened as it comes.
template <class T>
using held_element = std::conditional_t<whole_rows && std::is_same_v<T, fp16>, float, T>;
// Its passes over a row take so many columns at once, and end with those that have the row's end:
// of a tile that begins `left` columns before it, nobody looks at others.
inline constexpr int pass_columns = 1024;
template <int C> TK_DEVICE int columns_passed(int left) {
  int const passed = (left + pass_columns - 1) / pass_columns * pass_columns;
  return passed < C ? passed : C;
}
// Compilers make of memset's of unknown length an instruction that takes long to begin.
TK_DEVICE void clear_bytes(char* p, std::ptrdiff_t n) {
  for (; n >= 64; p += 64, n -= 64) __builtin_memset(p, 0, 64);
  for (; n > 0; ++p, --n) *p = 0;
}
// dst[0, cols) = src[0, cols), of which the columns from `first` to before `left` are there; the
// others become zero.
template <int C, class E, class T>
TK_DEVICE void copy_part(E* dst, T const* src, int first, int left, int cols = C) {
  int const begin = first < 0 ? 0 : first < C ? first : C;
  int const end = left < begin ? begin : left < C ? left : C;
  auto* const bytes = reinterpret_cast<char*>(dst);
  clear_bytes(bytes, sizeof(E) * begin);
  if constexpr (std::is_same_v<E, T>)
    __builtin_memcpy(dst + begin, src + begin, sizeof(T) * (end - begin));
  else be::fragment_map<1, C>::widen(dst + begin, src + begin, end - begin);
  clear_bytes(bytes + sizeof(E) * end, static_cast<std::ptrdiff_t>(sizeof(E)) * (cols - end));
}
// The first `cols` columns of its row of a tensor: in memory where all of them are there, else a
// copy.
template <class T, int R, int C> struct rows_in_place {
  static_assert(R == 1 && std::is_same_v<T, held_element<T>>);
  T const* data;
  T copy[C];
  TK_DEVICE rows_in_place() {}  // nothing is cleared
};
template <class T, int R, int C>
TK_DEVICE void find(rows_in_place<T, R, C>& dst, rows_with<T const> auto const& src, int row,
                    int col, int cols, bool copied) {
  flat_lines<T const, R, C> const from(src, row, col);
  dst.data = from.line[0];
  if (!copied && from.first <= 0 && from.left[0] >= cols) return;
  copy_part<C>(dst.copy, from.line[0], from.first, from.left[0], cols);
  dst.data = dst.copy;
}
// body(n, i, p) for one cache line of the tile after another: its elements from i on are p[0, n),
// in src or in a copy that is zero outside. Asks for the row that is read next: caches guess no
// further than the end of a page.
template <int R, int C, class T, class Body>
TK_DEVICE void for_each_line(rows_with<T const> auto const& src, int row, int col, Body body) {
  constexpr int n = C % 32 == 0 ? 64 / static_cast<int>(sizeof(T)) : 16;
  flat_lines<T const, R, C> const from(src, row, col);
  for (int r = 0; r < R; ++r) {
    auto const below = line_of(src, row + r + R);
    T const* const next = below.there ? below.data - from.first : from.line[r];
    auto const all = [&](T const* p, int cols) __attribute__((always_inline)) {
      for (int c = 0; c < C; c += n) {
        if (c < cols) __builtin_prefetch(next + c, 0, 2);
        body(std::integral_constant<int, n>{}, r * C + c, p + c);
      }
    };
    if (from.first <= 0 && from.left[r] >= C) {
      all(from.line[r], C);
    } else {
      T part[C];
      copy_part<C>(part, from.line[r], from.first, from.left[r]);
      all(part, from.left[r]);
    }
  }
}

// The first `cols` columns of a worker of one lane, as they are or widened; or each element two
// times, from column 0 of a row or a later one on.
template <class T, int Each, class E, int R, int C>
  requires whole_rows
TK_DEVICE void copy_rows(reg_tile<E, R, C>& dst, rows_with<T const> auto const& src, int row,
                         int col, int cols) {
  flat_lines<T const, R, C, 1, Each> const from(src, row, col);
  auto* to = reinterpret_cast<E*>(dst.e);
  for (int r = 0; r < R; ++r, to += C) {
    if constexpr (Each == 1) {
      copy_part<C>(to, from.line[r], from.first, from.left[r], cols);
    } else {
      int const left = from.left[r] < 0 ? 0 : from.left[r] < cols ? from.left[r] : cols;
      for (int c = 0; c < left / 2; ++c) to[2 * c] = to[2 * c + 1] = from.line[r][c];
      clear_bytes(reinterpret_cast<char*>(to + left),
                  static_cast<std::ptrdiff_t>(sizeof(E)) * (cols - left));
    }
  }
}
template <int S = 1, bool Whole = false, int Each = 1, class T, int R, int C>
TK_DEVICE void load(reg_tile<T, R, C>& dst, rows_with<T const> auto const& src, int vector_width,
                    int row, int col) {
  if constexpr (whole_rows && Each == 1)
    return for_each_line<R, C, T>(src, row, col, [&](auto n, int i, T const* p) {
      __builtin_memcpy(reinterpret_cast<T*>(dst.e) + i, p, sizeof(T) * n);
    });
  flat_lines<T const, R, C, S, Each> const from(src, row, col);
  bool const aligned = vector_width >= chunk_of<T>;
  for_each_chunk<T, be::fragment_map<R, C>, Whole>(
      in_chunks<T>(src.cols, vector_width, col),
      [&](auto whole, int i, int r, int c) __attribute__((always_inline)) {
        T const* const p = from.line[r] + c / Each;
        chunk_words<T> x;
        if constexpr (Each == 2)
          x.template read_twice<whole>(p, from.first - c, from.left[r] - c, aligned);
        else x.template read<whole>(p, from.first - c, from.left[r] - c, aligned);
        x.put(dst, i);
      });
}
template <class T, int R, int C>
  requires(sizeof(T) == 2)
TK_DEVICE void load(reg_tile<float, R, C>& dst, tensor<T const> const& src, int vector_width,
                    int row, int col) {
  if constexpr (whole_rows) {
    for_each_line<R, C, T>(src, row, col, [&](auto n, int i, T const* p) {
      for (int k = 0; k < n; ++k) dst.e[i + k] = be::widen(p[k]);
    });
  } else {
    reg_tile<T, R, C> x;
    load(x, src, vector_width, row, col);
    dst = x * 1.f;
  }
}
template <class T, int R, int C>
TK_DEVICE void load_add(reg_tile<float, R, C>& dst, tensor<T const> const& src, int vector_width,
                        int row, int col) {
  if constexpr (whole_rows) {
    for_each_line<R, C, T>(src, row, col, [&](auto n, int i, T const* p) {
      for (int k = 0; k < n; ++k) dst.e[i + k] += be::widen(p[k]);
    });
  } else {
    reg_tile<T, R, C> x;
    load(x, src, vector_width, row, col);
    dst = dst + x;
  }
}
template <class T, int R, int C>
TK_DEVICE void load(reg_tile<T, R, C>& dst, shared_vec<T, C> const (&src)[R]) {
  using map = be::fragment_map<R, C>;
  int const row = map::lane_row(be::worker_lane()), col = map::lane_col(be::worker_lane());
  for_each_chunk<T, map, true>(true, [&](auto, int i, int r, int c) __attribute__((always_inline)) {
    chunk_words<T> x;
    read_words<chunk_bytes<T> / 4>(x.w, src[row + r].data + col + c);
    x.put(dst, i);
  });
}
template <int S = 1, bool Whole = false, class E, class T, int R, int C>
TK_DEVICE void load(reg_row<E, R, C>& dst, T const* src, int cols, int vector_width, int col) {
  static_assert(std::is_same_v<E, T> || std::is_same_v<E, held_element<T>>);
  using map = be::fragment_map<R, C>;
  int const lane = flat_lane_col<R, C, S>() + col, left = cols - lane;
  if constexpr (is_flat<R> && whole_rows) {
    copy_part<C>(reinterpret_cast<E*>(dst.e), src + lane, -lane, left);
  } else if constexpr (is_flat<R>) {
    bool const aligned = vector_width == chunk_of<T> && col % chunk_of<T> == 0;
    auto const read = [&](auto whole, int i, int, int c) __attribute__((always_inline)) {
      chunk_words<T> x;
      x.template read<whole>(src + lane + c, -lane - c, left - c, aligned);
      x.put(dst, i);
    };
    for_each_chunk<T, map, Whole, 1>(aligned && cols % chunk_of<T> == 0, read);
  } else {
    auto const at = [&](int k) {
      int const c = map::col(map::element(0, k));
      return c < left ? bits_of_element(src[lane + c]) : 0;
    };
    TK_UNROLL
    for (int k = 0; k < dst.count; ++k) {
      if constexpr (sizeof(T) == 4) dst.e[k] = std::bit_cast<float>(at(k));
      else if (k % 2 == 0) dst.e[k / 2] = at(k) | at(k + 1) << 16;
    }
  }
}

// Runs of 8 numbers of 4 bytes, of which whole chunks are inside: two lanes write 32 bytes side by
// side, first of one's run, then of the other's. Caches of which a part is as long take them as
// fast as twice as many bytes in halves.
template <int R, int C, int S, class X>
TK_DEVICE void store_in_pairs(flat_lines<float, R, C, S> const& to, X const& x) {
  using map = be::fragment_map<R, C>;
  bool const odd = be::worker_lane() % 2 != 0;
  TK_UNROLL
  for (int i = 0; i < map::count; i += 8) {
    int const r = map::row_index(i), c = map::col(i);
    float low[4], high[4];
    TK_UNROLL
    for (int e = 0; e < 4; ++e) {
      float const first = x.value(i + e, r), second = x.value(i + 4 + e, r);
      float const other = be::shuffle_xor(odd ? first : second, 1);
      low[e] = odd ? other : first;
      high[e] = odd ? second : other;
    }
    auto const write = [&](float const(&part)[4], int at) {
      if (at < to.left[r]) {
        std::uint32_t w[4];
        TK_UNROLL
        for (int e = 0; e < 4; ++e) w[e] = std::bit_cast<std::uint32_t>(part[e]);
        write_words<4>(to.line[r] + at, w);
      }
    };
    write(low, c - (odd ? 4 : 0));
    write(high, c + (odd ? 4 : 8));
  }
}

// The k-th word of the chunk from element i on.
template <class T, class X> TK_DEVICE std::uint32_t word_of_chunk(X const& x, int i, int k, int r) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(x.value(i + k, r));
  else if constexpr (sizeof(T) == 2) return x.word(i / 2 + k, r);
  else return x.word(i / 2 + 2 * k, r) | x.word(i / 2 + 2 * k + 1, r) << 16;
}
// Of a chunk that is not whole; an expression of either type has its bits.
template <class T, class X> TK_DEVICE void put_element(T* p, X const& x, int i, int r) {
  if constexpr (requires { x.bits(i, r); }) p->bits = static_cast<decltype(p->bits)>(x.bits(i, r));
  else put(p, x.value(i, r));
}
template <class X> inline constexpr bool evaluates_halves = false;
template <class T, class X> inline constexpr bool evaluates_halves<narrowed<T, X>> = has_halves<X>;
template <int S = 1, bool Whole = false, bool Inside = false, class Rows, class X>
  requires requires(Rows const& dst) { line_of(dst, 0); }
TK_DEVICE void store(Rows const& dst, int vector_width, int row, int col, X const& x) {
  using T = std::remove_pointer_t<decltype(line_of(dst, 0).data)>;
  static_assert(can_store<T, X>::value);
  constexpr int n = chunk_of<T>;
  flat_lines<T, X::rows, X::cols, S> const to(dst, row, col);
  if constexpr (whole_rows) {
    constexpr int C = X::cols;
    constexpr bool in_halves = std::is_same_v<T, bf16> && C % 32 == 0 && evaluates_halves<X>;
    auto const bytes = dst.rows * dst.cols * static_cast<std::int64_t>(sizeof(T));
    for (int r = 0; r < X::rows; ++r) {
      alignas(64) float line[C];
      if constexpr (in_halves) {
        for (int c = 0; c < C; c += 32)
          for (int k = 0; k < 16; ++k) {
            line[c + k] = x.template half<0>(r * C + c + 2 * k, r);
            line[c + 16 + k] = x.template half<1>(r * C + c + 2 * k, r);
          }
      } else {
        for (int c = 0; c < C; ++c) line[c] = x.value(r * C + c, r);
      }
      be::fragment_map<X::rows, C>::template write_line<in_halves>(to.line[r], line, to.first,
                                                                   to.left[r], bytes);
    }
    return;
  }
  bool const aligned = vector_width >= n,
             in_whole_chunks = Inside ? aligned : in_chunks<T>(dst.cols, vector_width, col);
  // Short rows may each begin elsewhere, and then some of a warp's lanes alone have whole chunks.
  if constexpr (sizeof(T) == 4 && be::writes_in_pairs && (Whole || S == 1)) {
    if (Whole || in_whole_chunks) return store_in_pairs(to, x);
  }
  for_each_chunk<T, be::fragment_map<X::rows, X::cols>, Whole>(
      in_whole_chunks, [&](auto whole, int i, int r, int c) __attribute__((always_inline)) {
        T* const p = to.line[r] + c;
        int const first = to.first - c, left = to.left[r] - c;
        if (whole ? Inside || left > 0 : aligned && first <= 0 && left >= n) {
          std::uint32_t w[chunk_bytes<T> / 4];
          TK_UNROLL
          for (int k = 0; k < chunk_bytes<T> / 4; ++k) w[k] = word_of_chunk<T>(x, i, k, r);
          write_words<chunk_bytes<T> / 4>(p, w);
        } else if constexpr (!whole) {
          TK_UNROLL
          for (int e = 0; e < n; ++e)
            if (first <= e && e < left) put_element(p + e, x, i + e, r);
        }
      });
}

}  // namespace tk
