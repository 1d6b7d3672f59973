// SPDX-License-Identifier: MIT
// Movement of shared tiles, done when it returns; what accumulate() takes may stay in memory.
#pragma once
#include <cstring>

#include "backends/host/fragment.hpp"
#include "core/move.hpp"

namespace tk::be {

template <class T, int R, int C> struct source {
  tensor<T const> x;
};
template <class T, int R, int C> struct sink {
  tensor<T> x;
};

// Where products find the elements of a tile: in it, or still in memory. So many rows and columns
// lie inside the tensor; no other row is there, and columns are zero to the end of a tile's.
template <class T> struct placed {
  T const* data;
  std::int64_t row_stride, panel_stride;
  int rows, cols;
  T const* at(int row, int panel) const { return data + row * row_stride + panel * panel_stride; }
};
template <class T, int R, int C>
placed<T> in_tile(shared_tile<T, R, C> const& x, int rows = R, int cols = C) {
  constexpr int panel_cols = shared_tile<T, R, C>::panel_cols;
  return {x.data, panel_cols, R * panel_cols, rows, cols};
}

// What loads have brought into a slot. What memory has in whole rows of a tile stays there; of
// others, rows inside the tensor are copied.
struct loaded_tiles {
  static constexpr int most = 4;  // of one slot; more are copied, and taken for full
  struct part {
    void const *tile, *memory;  // null where it is in the tile
    std::int64_t row_stride;
    int rows, cols;
  };
  part of[most];
  int count = 0;
  bool add(part const& x) {
    if (count == most) return false;
    of[count++] = x;
    return true;
  }
  template <class T, int R, int C> placed<T> find(shared_tile<T, R, C> const& x) const {
    for (int i = 0; i < count; ++i) {
      auto const& y = of[i];
      if (y.tile != &x) continue;
      if (!y.memory) return in_tile(x, y.rows, y.cols);
      return {static_cast<T const*>(y.memory), y.row_stride, shared_tile<T, R, C>::panel_cols,
              y.rows, y.cols};
    }
    return in_tile(x);
  }
};
struct arrival {
  loaded_tiles* loaded = nullptr;
};

struct worker {
  int index;
  int id() const { return index; }
  int lane() const { return 0; }
  bool leader() const { return true; }
  void sync() const {}
};

// How many of `size` elements lie before `end`, where the first is at `begin`.
TK_DEVICE int count_inside(std::int64_t begin, std::int64_t end, int size) {
  std::int64_t const left = end - begin;
  return left <= 0 ? 0 : left < size ? static_cast<int>(left) : size;
}

// Where the columns of panel p begin in a row.
template <class T, int R, int C> TK_DEVICE T* row_at(shared_tile<T, R, C>& x, int row, int p) {
  return x.data +
         shared_tile<T, R, C>::offset(row, p * shared_tile<T, R, C>::panel_cols) / int{sizeof(T)};
}
template <class T, int R, int C>
TK_DEVICE T const* row_at(shared_tile<T, R, C> const& x, int row, int p) {
  return row_at(const_cast<shared_tile<T, R, C>&>(x), row, p);
}

// ---- global to shared
// Rows lie far apart: caches do not guess where the next one is.
inline constexpr int rows_ahead = 8;
template <class T, int R, int C, int Share>
void load_shared(shared_tile<T, R, C>& dst, window_of<source<T, Share, C>> const& src,
                 arrival done) {
  static_assert(R % Share == 0, "the blocks of a cluster load equal shares");
  using tile = shared_tile<T, R, C>;
  auto const& x = src.of.x;
  int const rows = count_inside(src.row, x.rows, R), cols = count_inside(src.col, x.cols, C);
  constexpr std::size_t panel_bytes = sizeof(T) * tile::panel_cols;
  T const* const whole = rows > 0 && cols == C ? x.at(src.row, src.col, src.i, src.j) : nullptr;
  bool const noted = done.loaded && done.loaded->add({&dst, whole, x.row_stride, rows, cols});
  if (noted && whole) return;
  for (int r = 0; r < (noted ? rows : R); ++r) {
    T const* from = r < rows && cols > 0 ? x.at(src.row + r, src.col, src.i, src.j) : nullptr;
    if (r + rows_ahead < rows)
      for (int c = 0; c < cols; c += 64 / int{sizeof(T)})
        __builtin_prefetch(from + rows_ahead * x.row_stride + c);
    for (int p = 0; p < tile::panels; ++p) {
      T* const to = row_at(dst, r, p);
      int const n = from ? count_inside(p * tile::panel_cols, cols, tile::panel_cols) : 0;
      if (n == tile::panel_cols) {
        std::memcpy(to, from + p * tile::panel_cols, panel_bytes);
      } else {
        std::memset(to, 0, panel_bytes);
        if (n > 0) std::memcpy(to, from + p * tile::panel_cols, sizeof(T) * n);
      }
    }
  }
}
template <class T, int R, int C>
TK_DEVICE void load_async(shared_tile<T, R, C>& dst, window_of<source<T, R, C>> const& src,
                          arrival done) {
  load_shared(dst, src, done);
}
template <class T, int R, int C>
TK_DEVICE void load_async(shared_tile<T, R, C>& dst, bounded_window_of<source<T, R, C>> const& src,
                          arrival done) {
  auto const& [of, row, col, i, j] = src.all;
  source<T, R, C> const bounded = rows_before(of, src.end);
  load_shared(dst, window(bounded, row, col, i, j), done);
}

// src[0, N); elements from `left` on are zero.
template <class T, int N>
TK_DEVICE void load_async(shared_vec<T, N>& dst, T const* src, int left, arrival) {
  for (int n = 0; n < N; ++n) dst.data[n] = n < left ? src[n] : T{};
}

// All of it, from a multiple of 16 bytes.
template <class T, int N> TK_DEVICE void load_async(shared_vec<T, N>& dst, T const* src, arrival) {
  std::memcpy(dst.data, src, sizeof dst.data);
}

// R rows of N columns from (row, col) on, each into a vector of its own, of which the rest is not
// written. Columns count from the 16-byte boundary at or before a row.
template <class T, int N, int R>
TK_DEVICE void load_async(shared_vec<T, N> (&dst)[R], tensor<T const> const& src, int row, int col,
                          arrival) {
  for (int r = 0; r < R && row + r < src.rows; ++r) {
    int const first = shift_of(src, row + r) - col, last = static_cast<int>(src.cols) + first;
    int const begin = first < 0 ? 0 : first, end = last < N ? last : N;
    if (begin < end)
      std::memcpy(dst[r].data + begin, src.at(row + r, begin - first), sizeof(T) * (end - begin));
  }
}

// ---- registers and shared memory
// What this lane stored plainly is there for products, and what it loads is there for copies to
// overwrite, once a barrier of the worker has followed.
TK_DEVICE void publish_shared() {}
// Elements [first, first + count) of row `row` of x, a cast or a packed tile.
template <class T, class X>
TK_DEVICE void round_row(T* dst, X const& x, int row, int first, int count) {
  int const begin = row * X::cols + first;
  if constexpr (requires { x.value(begin, row); })
    for (int c = 0; c < count; ++c) dst[c] = be::narrow<T>(x.value(begin + c, row));
  else std::memcpy(dst, reinterpret_cast<T const*>(x.e) + begin, sizeof(T) * count);
}
template <class T, int R, int C, class X>
TK_DEVICE void store(shared_tile<T, R, C>& dst, X const& x) {
  static_assert(can_store<T, X>::value);
  static_assert(X::rows == R && X::cols == C, "a tile is stored to a shared tile of its own shape");
  using tile = shared_tile<T, R, C>;
  for (int r = 0; r < R; ++r)
    for (int p = 0; p < tile::panels; ++p)
      round_row(row_at(dst, r, p), x, r, p * tile::panel_cols, tile::panel_cols);
}
template <class T, int R, int C>
TK_DEVICE void load(reg_tile<T, R, C>& dst, shared_tile<T, R, C> const& src) {
  using tile = shared_tile<T, R, C>;
  auto* const to = reinterpret_cast<char*>(dst.e);
  constexpr int panel_bytes = sizeof(T) * tile::panel_cols;
  for (int r = 0; r < R; ++r)
    for (int p = 0; p < tile::panels; ++p)
      std::memcpy(to + (r * tile::panels + p) * panel_bytes, row_at(src, r, p), panel_bytes);
}
template <class T, int R, int C>
TK_DEVICE void load_transposed(reg_tile<T, R, C>& dst, shared_tile<T, C, R> const& src) {
  load_transposed_plain(dst, src);
}
// ---- registers to global
template <class T, int R, int C, class X>
TK_DEVICE void store(window_of<sink<T, R, C>> const& dst, X const& x) {
  static_assert(can_store<T, X>::value);
  auto const& y = dst.of.x;
  int const rows = count_inside(dst.row, y.rows, X::rows);
  int const cols = count_inside(dst.col, y.cols, X::cols);
  for (int r = 0; r < rows && cols > 0; ++r) {
    T line[X::cols];
    round_row(line, x, r, 0, X::cols);
    T* const to = y.at(dst.row + r, dst.col, dst.i, dst.j);
    if (cols == X::cols) std::memcpy(to, line, sizeof line);
    else std::memcpy(to, line, sizeof(T) * cols);
  }
}
// The tiles to go through on other chips are not needed.
template <class T, int R, int C> struct staging {};
template <class T, int R, int C, class X, class Via>
TK_DEVICE void store_async(worker, window_of<sink<T, R, C>> const& dst, X const& x, Via&, int = 0) {
  static_assert(can_store<T, X>::value);
  store(dst, x);
}

// Of what stores go through (backends/sm_90/copy.hpp).
TK_DEVICE void wait_stores_read(worker) {}

template <class T, int R, int C, class X>
TK_DEVICE void store(bounded_window_of<sink<T, R, C>> const& dst, X const& x) {
  auto const& [of, row, col, i, j] = dst.all;
  sink<T, R, C> const bounded = rows_before(of, dst.end);
  store(window(bounded, row, col, i, j), x);
}
template <class T, int R, int C, class X, class Via>
TK_DEVICE void store_async(worker w, bounded_window_of<sink<T, R, C>> const& dst, X const& x,
                           Via& via) {
  auto const& [of, row, col, i, j] = dst.all;
  sink<T, R, C> const bounded = rows_before(of, dst.end);
  store_async(w, window(bounded, row, col, i, j), x, via);
}

// x transposed: element (r, c) to (row + c, col + r).
template <class T, int R, int C>
TK_DEVICE void store_async_transposed(worker, bounded_window_of<sink<T, C, R>> const& dst,
                                      reg_tile<float, R, C> const& x, shared_tile<T, C, R>&) {
  auto const& [of, row, col, i, j] = dst.all;
  store_transposed(rows_before(of.x, dst.end), row, col, i, j, x);
}

}  // namespace tk::be
