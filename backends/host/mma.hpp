// SPDX-License-Identifier: MIT
// Products, finished when they return. Both operands are widened to fp32 panels, once per product:
//   left   [m][k] or [k][m], as it lies
//   right  strips of `strip` columns, each [k][strip] (transposed on the way where b is [n, k])
// and a block of block_rows x strip sums stays in SIMD registers while k runs. Few rows multiply
// the right tile as it lies, if it lies [k][n]: a panel would be read no more often than it is
// written. Each element is one sum over k, upward, whatever the tiles' sizes and the form are:
// equal bits.
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

// ---- left operand: dst[row * (C + left_gap) + col]. The gap keeps the rows of a block apart in
// the cache.
inline constexpr int left_gap = 16;
template <class T, int R, int C>
void widen_left(float* dst, shared_tile<T, R, C> const& x, inside part) {
  using tile = shared_tile<T, R, C>;
  for (int r = 0; r < part.rows; ++r)
    for (int p = 0; p * tile::panel_cols < part.cols; ++p)
      widen_row<tile::panel_cols>(dst + r * (C + left_gap) + p * tile::panel_cols, row_at(x, r, p));
}
template <class T, int R, int C> void widen_left(float* dst, reg_tile<T, R, C> const& x, inside) {
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
template <class T, int K, int N>
void widen_right(float* dst, shared_tile<T, K, N> const& x, inside part) {
  using tile = shared_tile<T, K, N>;
  constexpr int piece = simd_lanes < 16 ? simd_lanes : 16;
  for (int p = 0; p * tile::panel_cols < in_strips<N>(part.cols); ++p)
    for (int c = 0; c < tile::panel_cols; c += piece) {
      int const n = p * tile::panel_cols + c, s = n / strip, width = strip_width<N>(s);
      float* const to = dst + s * strip * K + n % strip;
      for (int k = 0; k < part.rows; ++k) widen_row<piece>(to + k * width, row_at(x, k, p) + c);
    }
}
// simd_lanes rows are widened before they are transposed: a vector that was just stored in halves
// is slow to load.
template <class T, int N, int K>
void widen_right_transposed(float* dst, shared_tile<T, N, K> const& x, inside part) {
  using tile = shared_tile<T, N, K>;
  alignas(64) float lines[simd_lanes][K];
  for (int n = 0; n < in_strips<N>(part.rows); n += simd_lanes) {
    for (int i = 0; i < simd_lanes; ++i)
      for (int p = 0; p * tile::panel_cols < part.cols; ++p)
        widen_row<tile::panel_cols>(lines[i] + p * tile::panel_cols, row_at(x, n + i, p));
    int const s = n / strip, width = strip_width<N>(s);
    float* to = dst + s * strip * K + n % strip;
    for (int k = 0; k < part.cols; k += simd_lanes) {
      simd rows[simd_lanes];
      for (int i = 0; i < simd_lanes; ++i) rows[i] = load_simd(lines[i] + k);
      transpose(rows);
      for (int i = 0; i < simd_lanes; ++i, to += width) store_simd(to, rows[i]);
    }
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

// Few rows; b as it lies, a panel of it at a time.
inline constexpr int few_rows = 3;
template <bool Keep, int N, int RowStride, int KStride, class T, int K>
void multiply_few(float* d, float const* a, shared_tile<T, K, N> const& b, int rows, int cols,
                  int terms) {
  using tile = shared_tile<T, K, N>;
  constexpr int V = tile::panel_cols / simd_lanes;
  for (int p = 0; p * tile::panel_cols < cols; ++p)
    for (int r = 0; r < rows; ++r)
      multiply_block<Keep, 1, V, RowStride, KStride>(
          d + r * N + p * tile::panel_cols, N, a + r * RowStride, terms,
          [&](int k, int v) __attribute__((always_inline)) {
            return widen_simd(row_at(b, k, p) + v * simd_lanes);
          });
}

// What lies outside a and b is zero: sums of rows and columns outside stay as they are.
template <bool Keep, bool TransA, bool TransB, int R, int N, class A, class B>
__attribute__((noinline)) void product_inside(reg_tile<float, R, N>& d, A const& a, inside of_a,
                                              B const& b, inside of_b) {
  constexpr int K = TransA ? A::rows : A::cols;
  constexpr int left_cols = (TransA ? R : K) + left_gap, left_rows = TransA ? K : R;
  constexpr int row_stride = TransA ? 1 : left_cols, k_stride = TransA ? left_cols : 1;
  int const rows = TransA ? of_a.cols : of_a.rows, cols = TransB ? of_b.rows : of_b.cols;
  int const of_left = TransA ? of_a.rows : of_a.cols, of_right = TransB ? of_b.cols : of_b.rows;
  int const terms = of_left < of_right ? of_left : of_right;
  float* const left = panel_memory(left_rows * left_cols + K * N);
  float* const right = left + left_rows * left_cols;
  widen_left(left, a, of_a);
  if constexpr (!TransB && B::panel_cols % simd_lanes == 0)
    if (rows <= few_rows)
      return multiply_few<Keep, N, row_stride, k_stride>(d.e, left, b, rows, cols, terms);
  if constexpr (TransB) widen_right_transposed(right, b, of_b);
  else widen_right(right, b, of_b);
  multiply<Keep, R, N, K, row_stride, k_stride>(d.e, left, right, rows, cols, terms);
}
template <bool Keep, bool TransA, bool TransB, int R, int N, class A, class B>
TK_DEVICE void product(reg_tile<float, R, N>& d, A const& a, B const& b) {
  product_inside<Keep, TransA, TransB>(d, a, {A::rows, A::cols}, b, {B::rows, B::cols});
}

template <class X> TK_DEVICE void take_over(X& p, X const& x) { p = x; }
template <class X> TK_DEVICE void hand_back(X&) {}
template <int Running> TK_DEVICE void await_products() {}

}  // namespace tk::be
