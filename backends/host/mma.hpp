// SPDX-License-Identifier: MIT
// Products, finished when they return. Both operands are widened to fp32 panels, once per product:
//   left   [m][k] or [k][m], as it lies
//   right  strips of `strip` columns, each [k][strip] (transposed on the way where b is [n, k])
// and a block of block_rows x strip sums stays in SIMD registers while k runs. Where elements of
// the operands are is told by `placed` (copy.hpp): in a tile, or still in memory. Few rows have a
// form of their own (few_rows.hpp). Each element is one sum over k, upward, whatever the tiles'
// sizes and the form are: equal bits.
#pragma once
#include <new>
#include <utility>

#include "backends/host/copy.hpp"
#include "backends/host/simd.hpp"

namespace tk::be {

inline constexpr int block_rows = simd_registers >= 32 ? 8 : 4, strip = 2 * simd_lanes;

// This thread's memory for panels; grows, and is given back when the thread ends. The two numbers
// outlive their owner: destructors of static objects may still multiply.
struct panels_of_thread {
  static inline thread_local float* memory = nullptr;
  static inline thread_local std::size_t size = 0;
  static void release() {
    ::operator delete(std::exchange(memory, nullptr), std::align_val_t{64});
    size = 0;
  }
  ~panels_of_thread() { release(); }
};
inline float* panel_memory(std::size_t floats) {
  static thread_local panels_of_thread const owner;
  if (panels_of_thread::size < floats) {
    panels_of_thread::release();
    panels_of_thread::memory =
        static_cast<float*>(::operator new(floats * sizeof(float), std::align_val_t{64}));
    panels_of_thread::size = floats;
  }
  return panels_of_thread::memory;
}

template <int N, class T> TK_DEVICE void widen_row(float* dst, T const* src) {
  if constexpr (N % simd_lanes == 0)
    for (int i = 0; i < N; i += simd_lanes) store_simd(dst + i, widen_simd(src + i));
  else
    for (int i = 0; i < N; ++i) dst[i] = be::widen(src[i]);
}

// Asks for a row's part in a panel. Rows lie far apart: caches do not guess where the next one is.
template <int Cols, class T> TK_DEVICE void prefetch_panel(placed<T> const& x, int row, int panel) {
  if (row < x.rows)
    for (int c = 0; c < Cols; c += 64 / int{sizeof(T)}) __builtin_prefetch(x.at(row, panel) + c);
}

// ---- left operand: dst[row * (C + left_gap) + col]. The gap keeps the rows of a block apart in
// the cache.
inline constexpr int left_gap = 16;
template <class Tile> void widen_left(float* dst, placed<typename Tile::element> const& x) {
  for (int r = 0; r < x.rows; ++r)
    for (int p = 0; p * Tile::panel_cols < x.cols; ++p) {
      prefetch_panel<Tile::panel_cols>(x, r + rows_ahead, p);
      widen_row<Tile::panel_cols>(dst + r * (Tile::cols + left_gap) + p * Tile::panel_cols,
                                  x.at(r, p));
    }
}
template <class T, int R, int C> void widen_left(float* dst, reg_tile<T, R, C> const& x) {
  for (int r = 0; r < R; ++r) {
    T line[C];
    std::memcpy(line, x.e + r * (C / 2), sizeof line);
    widen_row<C>(dst + r * (C + left_gap), line);
  }
}

// Of the right operand's columns, those of whole strips: products read no others.
template <int N> constexpr int in_strips(int cols) {
  int const all = (cols + strip - 1) / strip * strip;
  return all < N ? all : N;
}

// ---- right operand: element (k, n) of strip s is dst[s * strip * K + k * width + n], where the
// last strip may be narrower.
template <int N> constexpr int strip_width(int s) {
  return N - s * strip < strip ? N - s * strip : strip;
}
template <class Tile> void widen_right(float* dst, placed<typename Tile::element> const& x) {
  constexpr int piece = simd_lanes < 16 ? simd_lanes : 16, panel = Tile::panel_cols;
  int const cols = in_strips<Tile::cols>(x.cols);
  for (int k = 0; k < x.rows; ++k)
    for (int p = 0; p * panel < cols; ++p) {
      prefetch_panel<panel>(x, k + rows_ahead, p);
      for (int c = 0; c < panel; c += piece) {
        int const n = p * panel + c, s = n / strip, width = strip_width<Tile::cols>(s);
        widen_row<piece>(dst + s * strip * Tile::rows + k * width + n % strip, x.at(k, p) + c);
      }
    }
}

// simd_lanes rows of b[n, k], from row n on; past the last one that is there, rows of zeros.
template <class Tile> struct lines {
  using T = typename Tile::element;
  static constexpr int per_word = 4 / int{sizeof(T)};
  // Columns that are transposed at once, as words.
  static constexpr int block =
      simd_lanes * per_word < Tile::panel_cols ? simd_lanes * per_word : Tile::panel_cols;
  static constexpr T zeros[Tile::cols]{};
  T const* line[simd_lanes];
  std::int64_t panel_stride;
  lines() = default;
  lines(placed<T> const& x, int n) : panel_stride(x.panel_stride) {
    for (int i = 0; i < simd_lanes; ++i) line[i] = n + i < x.rows ? x.at(n + i, 0) : zeros;
  }
  // body(i, v) for the columns k + i of a block, upward; v is the column as a vector.
  template <class Body> TK_DEVICE void for_each(int k, Body body) const {
    std::int64_t const at = k / Tile::panel_cols * panel_stride + k % Tile::panel_cols;
    simd words[simd_lanes]{};
    for (int i = 0; i < simd_lanes; ++i) std::memcpy(words + i, line[i] + at, sizeof(T) * block);
    transpose(words);
    unrolled<block>([&](auto i) __attribute__((always_inline)) {
      body(i, widen_part<T>(words[i / per_word], i % per_word));
    });
  }
};
template <class Tile>
void widen_right_transposed(float* dst, placed<typename Tile::element> const& x) {
  for (int n = 0; n < in_strips<Tile::rows>(x.rows); n += simd_lanes) {
    int const s = n / strip, width = strip_width<Tile::rows>(s);
    lines<Tile> const from(x, n);
    float* const to = dst + s * strip * Tile::cols + n % strip;
    for (int k = 0; k < x.cols; k += from.block)
      from.for_each(k, [&](int i, simd v)
                           __attribute__((always_inline)) { store_simd(to + (k + i) * width, v); });
  }
}

// ---- sums
// d[Rows][V vectors] (+)= a b over `terms` of k; element (row, k) of a is a[row * RowStride + k *
// KStride], and right(k, v) gives V vectors of b.
template <bool Keep, int Rows, int V, int RowStride, int KStride, class Right>
TK_DEVICE void multiply_block(float* d, int d_stride, float const* a, int terms, Right right) {
  simd sum[Rows][V];
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < V; ++v)
      sum[r][v] = Keep ? load_simd(d + r * d_stride + v * simd_lanes) : simd{};
  for (int k = 0; k < terms; ++k) {
    simd b[V];
    for (int v = 0; v < V; ++v) b[v] = right(k, v);
    for (int r = 0; r < Rows; ++r) {
      float const left = a[r * RowStride + k * KStride];
      for (int v = 0; v < V; ++v) sum[r][v] += left * b[v];
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < V; ++v) store_simd(d + r * d_stride + v * simd_lanes, sum[r][v]);
}
// Of d[R, N], rows and columns inside; the last rows go one by one.
template <bool Keep, int R, int N, int K, int RowStride, int KStride>
void multiply(float* d, float const* a, float const* b, int rows, int cols, int terms) {
  auto const of_strip = [&]<int V>(std::integral_constant<int, V>, int s) {
    float const* const strip_of_b = b + s * strip * K;
    auto const right = [&](int k, int v) __attribute__((always_inline)) {
      return load_simd(strip_of_b + (k * V + v) * simd_lanes);
    };
    int r = 0;
    for (; r + block_rows <= rows; r += block_rows)
      multiply_block<Keep, block_rows, V, RowStride, KStride>(d + r * N + s * strip, N,
                                                              a + r * RowStride, terms, right);
    for (; r < rows; ++r)
      multiply_block<Keep, 1, V, RowStride, KStride>(d + r * N + s * strip, N, a + r * RowStride,
                                                     terms, right);
  };
  for (int s = 0; s * strip < cols; ++s)
    if (strip_width<N>(s) == strip) of_strip(std::integral_constant<int, 2>{}, s);
    else if constexpr (N % strip != 0)
      of_strip(std::integral_constant<int, N % strip / simd_lanes>{}, s);
}

// Widened rows of the left operand. What lies outside a and b is zero: sums of rows and columns
// outside stay as they are. `left` is where a lies, or a itself, a register tile.
template <bool TransA, int R, class A> struct left_panel {
  static constexpr int K = TransA ? A::rows : A::cols;
  static constexpr int cols = (TransA ? R : K) + left_gap, floats = (TransA ? K : R) * cols;
  static constexpr int row_stride = TransA ? 1 : cols, k_stride = TransA ? cols : 1;
};
template <bool Keep, bool TransA, bool TransB, class A, class B, int R, int N, class Left>
__attribute__((noinline)) void product_of(reg_tile<float, R, N>& d, Left const& left,
                                          placed<typename B::element> const& right, int rows,
                                          int cols, int terms) {
  using panel = left_panel<TransA, R, A>;
  constexpr int K = panel::K;
  float* const a = panel_memory(panel::floats + K * N);
  float* const b = a + panel::floats;
  if constexpr (is_shared<A>) widen_left<A>(a, left);
  else widen_left(a, left);
  if constexpr (TransB) widen_right_transposed<B>(b, right);
  else widen_right<B>(b, right);
  multiply<Keep, R, N, K, panel::row_stride, panel::k_stride>(d.e, a, b, rows, cols, terms);
}
template <bool Keep, bool TransA, bool TransB, int R, int N, class A, class B>
TK_DEVICE void product(reg_tile<float, R, N>& d, A const& a, B const& b) {
  constexpr int K = TransA ? A::rows : A::cols;
  auto const right = in_tile(b);
  if constexpr (is_shared<A>) product_of<Keep, TransA, TransB, A, B>(d, in_tile(a), right, R, N, K);
  else product_of<Keep, TransA, TransB, A, B>(d, a, right, R, N, K);
}

template <class X> TK_DEVICE void take_over(X& p, X const& x) { p = x; }
template <class X> TK_DEVICE void hand_back(X&) {}
template <int Running> TK_DEVICE void await_products() {}

}  // namespace tk::be
