// SPDX-License-Identifier: MIT
// Shared tiles and their movement. A shared_tile<T, R, C> lies in panels of up to 64 columns, one
// after another; a panel is R whole rows. A load has happened when it returns, and so has a store.
#pragma once
#include <atomic>
#include <cstring>

#include "backends/host/fragment.hpp"
#include "core/move.hpp"
#include "core/reduce.hpp"

namespace tk {

template <class T, int R, int C> struct alignas(64) shared_tile {
  static_assert(R % 16 == 0 && C % 16 == 0, "a tile's dimensions are multiples of 16");
  static_assert(C * sizeof(T) % 32 == 0, "a shared tile of fp8 has a multiple of 32 columns");
  using element = T;
  static constexpr int rows = R, cols = C;
  static constexpr int panel_cols = C % 64 == 0 ? 64 : C % 32 == 0 ? 32 : 16;
  static constexpr int panels = C / panel_cols;
  // Byte of an element.
  static constexpr int offset(int row, int col) {
    int const in = col % panel_cols;
    return static_cast<int>(sizeof(T)) * ((col / panel_cols * R + row) * panel_cols + in);
  }
  // Where columns [p panel_cols, (p + 1) panel_cols) of a row begin.
  T* at(int row, int p) { return data + (p * R + row) * panel_cols; }
  T const* at(int row, int p) const { return data + (p * R + row) * panel_cols; }
  T data[R * C];
};

template <class T, int N> struct alignas(64) shared_vec {
  static_assert(N % 16 == 0, "a vector's length is a multiple of 16");
  T data[N];
};

// The i-th N columns of a tile, as a tile.
template <int N, class T, int R, int C>
TK_DEVICE shared_tile<T, R, N> const& columns(shared_tile<T, R, C> const& x, int i) {
  static_assert(N % shared_tile<T, R, C>::panel_cols == 0 && C % N == 0 &&
                    shared_tile<T, R, N>::panel_cols == shared_tile<T, R, C>::panel_cols,
                "columns() cuts whole panels");
  return *reinterpret_cast<shared_tile<T, R, N> const*>(x.data + i * R * N);
}

namespace be {

template <class T, int R, int C> struct source {
  tensor<T const> x;
};
template <class T, int R, int C> struct sink {
  tensor<T> x;
};

// Tiles in global memory that only workers write and read; R * C elements per tile, row-major here.
// Not a layout to rely on.
template <int R, int C> struct parked {
  float* data;
};

struct arrival {};

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

// ---- global to shared
template <class T, int R, int C, int Share>
void load_shared(shared_tile<T, R, C>& dst, window_of<source<T, Share, C>> const& src, arrival) {
  static_assert(R % Share == 0, "the blocks of a cluster load equal shares");
  using tile = shared_tile<T, R, C>;
  auto const& x = src.of.x;
  int const rows = count_inside(src.row, x.rows, R), cols = count_inside(src.col, x.cols, C);
  constexpr std::size_t panel_bytes = sizeof(T) * tile::panel_cols;
  for (int r = 0; r < R; ++r) {
    T const* from = r < rows && cols > 0 ? x.at(src.row + r, src.col, src.i, src.j) : nullptr;
    for (int p = 0; p < tile::panels; ++p) {
      T* const to = dst.at(r, p);
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
// src[0, N); elements from `left` on are zero.
template <class T, int N>
TK_DEVICE void load_async(shared_vec<T, N>& dst, T const* src, int left, arrival) {
  for (int n = 0; n < N; ++n) dst.data[n] = n < left ? src[n] : T{};
}

// R rows of N columns from (row, col) on, each into a vector of its own. Columns count from the
// 16-byte boundary at or before a row; of a row whole chunks of 16 bytes arrive, and the rest of a
// vector is not written.
template <class T, int N, int R>
TK_DEVICE void load_async(shared_vec<T, N> (&dst)[R], tensor<T const> const& src, int row, int col,
                          arrival) {
  constexpr int n = 16 / int{sizeof(T)};
  for (int r = 0; r < R && row + r < src.rows; ++r) {
    int const first = shift_of(src, row + r) - col, last = static_cast<int>(src.cols) + first;
    for (int k = 0; k < N; k += n)
      if (first <= k && k + n <= last) std::memcpy(dst[r].data + k, src.at(row + r, k - first), 16);
  }
}

// ---- registers and shared memory
// Elements [first, first + count) of row `row` of x, rounded to T; count is even.
template <class T, class X>
TK_DEVICE void round_row(T* dst, X const& x, int row, int first, int count) {
  for (int c = 0; c < count; c += 2) {
    int const pair = (row * X::cols + first + c) / 2;
    if constexpr (sizeof(T) <= 2) {
      auto const both = static_cast<pair_of<T>>(x.word(pair, row));
      std::memcpy(dst + c, &both, sizeof both);
    } else {
      dst[c] = x.value(2 * pair, row);
      dst[c + 1] = x.value(2 * pair + 1, row);
    }
  }
}
template <class T, int R, int C, class X>
TK_DEVICE void store(shared_tile<T, R, C>& dst, X const& x) {
  static_assert(X::rows == R && X::cols == C, "a tile is stored to a shared tile of its own shape");
  using tile = shared_tile<T, R, C>;
  for (int r = 0; r < R; ++r)
    for (int p = 0; p < tile::panels; ++p)
      round_row(dst.at(r, p), x, r, p * tile::panel_cols, tile::panel_cols);
}
template <class T, int R, int C>
TK_DEVICE void load(reg_tile<T, R, C>& dst, shared_tile<T, R, C> const& src) {
  using tile = shared_tile<T, R, C>;
  auto* const to = reinterpret_cast<char*>(dst.e);
  constexpr int panel_bytes = sizeof(T) * tile::panel_cols;
  for (int r = 0; r < R; ++r)
    for (int p = 0; p < tile::panels; ++p)
      std::memcpy(to + (r * tile::panels + p) * panel_bytes, src.at(r, p), panel_bytes);
}
template <class T, int R, int C>
TK_DEVICE void load_transposed(reg_tile<T, R, C>& dst, shared_tile<T, C, R> const& src) {
  load_transposed_plain(dst, src);
}
template <class T, int N> TK_DEVICE row_of<T, N> row(shared_vec<T, N> const& x) {
  return {x.data, N};
}

// ---- registers to global
template <class T, int R, int C, class X>
TK_DEVICE void store(window_of<sink<T, R, C>> const& dst, X const& x) {
  auto const& y = dst.of.x;
  int const rows = count_inside(dst.row, y.rows, X::rows);
  int const cols = count_inside(dst.col, y.cols, X::cols);
  for (int r = 0; r < rows && cols > 0; ++r) {
    T line[X::cols];
    round_row(line, x, r, 0, X::cols);
    std::memcpy(y.at(dst.row + r, dst.col, dst.i, dst.j), line, sizeof(T) * cols);
  }
}
// The tiles to go through on other chips are not needed.
template <class T, int R, int C> struct staging {};
template <class T, int R, int C, class X, class Via>
TK_DEVICE void store_async(worker, window_of<sink<T, R, C>> const& dst, X const& x, Via&, int = 0) {
  store(dst, x);
}

// ---- parked tiles
template <int R, int C>
TK_DEVICE void store(parked<R, C> const& to, std::int64_t tile, reg_tile<float, R, C> const& x) {
  std::memcpy(to.data + tile * (R * C), x.e, sizeof x.e);
}
template <int R, int C>
TK_DEVICE void load(reg_tile<float, R, C>& x, parked<R, C> const& from, std::int64_t tile) {
  std::memcpy(x.e, from.data + tile * (R * C), sizeof x.e);
}
template <int R, int C>
TK_DEVICE void load_add(reg_tile<float, R, C>& x, parked<R, C> const& from, std::int64_t tile) {
  float const* const p = from.data + tile * (R * C);
  for (int i = 0; i < R * C; ++i) x.e[i] += p[i];
}
// Several workers may add to one tile; each element is added whole, in any order.
template <int R, int C>
TK_DEVICE void store_add(parked<R, C> const& to, std::int64_t tile,
                         reg_tile<float, R, C> const& x) {
  float* const p = to.data + tile * (R * C);
  for (int i = 0; i < R * C; ++i)
    std::atomic_ref<float>(p[i]).fetch_add(x.e[i], std::memory_order_relaxed);
}

}  // namespace be
}  // namespace tk
