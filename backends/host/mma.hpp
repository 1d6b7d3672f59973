// SPDX-License-Identifier: MIT
// Products, finished when they return. Both operands are widened to fp32 panels, once per product:
//   left   [m][k] or [k][m], as it lies
//   right  strips of `strip` columns, each [k][strip] (transposed on the way where b is [n, k])
// and a block of block_rows x strip sums stays in SIMD registers while k runs. Each element is one
// sum over k, upward, whatever the tiles' sizes are.
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
  for (int i = 0; i < N; ++i) dst[i] = be::widen(src[i]);
}

// ---- left operand: dst[row * (C + left_gap) + col]. The gap keeps the rows of a block apart in
// the cache.
inline constexpr int left_gap = 16;
template <class T, int R, int C> void widen_left(float* dst, shared_tile<T, R, C> const& x) {
  using tile = shared_tile<T, R, C>;
  for (int r = 0; r < R; ++r)
    for (int p = 0; p < tile::panels; ++p)
      widen_row<tile::panel_cols>(dst + r * (C + left_gap) + p * tile::panel_cols, row_at(x, r, p));
}
template <class T, int R, int C> void widen_left(float* dst, reg_tile<T, R, C> const& x) {
  for (int r = 0; r < R; ++r) {
    T line[C];
    std::memcpy(line, x.e + r * (C / 2), sizeof line);
    widen_row<C>(dst + r * (C + left_gap), line);
  }
}

// ---- right operand: element (k, n) of strip s is dst[s * strip * K + k * width + n], where the
// last strip may be narrower.
template <int N> constexpr int strip_width(int s) {
  return N - s * strip < strip ? N - s * strip : strip;
}
template <class T, int K, int N> void widen_right(float* dst, shared_tile<T, K, N> const& x) {
  using tile = shared_tile<T, K, N>;
  constexpr int piece = simd_lanes < 16 ? simd_lanes : 16;
  for (int k = 0; k < K; ++k)
    for (int p = 0; p < tile::panels; ++p)
      for (int c = 0; c < tile::panel_cols; c += piece) {
        int const n = p * tile::panel_cols + c, s = n / strip;
        widen_row<piece>(dst + s * strip * K + k * strip_width<N>(s) + n % strip,
                         row_at(x, k, p) + c);
      }
}
// simd_lanes rows are widened before they are transposed: a vector that was just stored in halves
// is slow to load.
template <class T, int N, int K>
void widen_right_transposed(float* dst, shared_tile<T, N, K> const& x) {
  using tile = shared_tile<T, N, K>;
  alignas(64) float lines[simd_lanes][K];
  for (int n = 0; n < N; n += simd_lanes) {
    for (int i = 0; i < simd_lanes; ++i)
      for (int p = 0; p < tile::panels; ++p)
        widen_row<tile::panel_cols>(lines[i] + p * tile::panel_cols, row_at(x, n + i, p));
    int const s = n / strip, width = strip_width<N>(s);
    float* to = dst + s * strip * K + n % strip;
    for (int k = 0; k < K; k += simd_lanes) {
      simd rows[simd_lanes];
      for (int i = 0; i < simd_lanes; ++i) rows[i] = load_simd(lines[i] + k);
      transpose(rows);
      for (int i = 0; i < simd_lanes; ++i, to += width) store_simd(to, rows[i]);
    }
  }
}

// ---- sums
// d[block_rows][V vectors] (+)= a b; element (row, k) of a is a[row * RowStride + k * KStride].
template <bool Keep, int K, int V, int RowStride, int KStride>
TK_DEVICE void multiply_block(float* d, int d_stride, float const* a, float const* b) {
  simd sum[block_rows][V];
  for (int r = 0; r < block_rows; ++r)
    for (int v = 0; v < V; ++v)
      sum[r][v] = Keep ? load_simd(d + r * d_stride + v * simd_lanes) : simd{};
  for (int k = 0; k < K; ++k) {
    simd right[V];
    for (int v = 0; v < V; ++v) right[v] = load_simd(b + (k * V + v) * simd_lanes);
    for (int r = 0; r < block_rows; ++r) {
      float const left = a[r * RowStride + k * KStride];
      for (int v = 0; v < V; ++v) sum[r][v] += left * right[v];
    }
  }
  for (int r = 0; r < block_rows; ++r)
    for (int v = 0; v < V; ++v) store_simd(d + r * d_stride + v * simd_lanes, sum[r][v]);
}
template <bool Keep, int R, int N, int K, int RowStride, int KStride>
void multiply(float* d, float const* a, float const* b) {
  for (int s = 0; s * strip < N; ++s)
    for (int r = 0; r < R; r += block_rows) {
      float* const to = d + r * N + s * strip;
      float const *const left = a + r * RowStride, *const right = b + s * strip * K;
      if (strip_width<N>(s) == strip)
        multiply_block<Keep, K, 2, RowStride, KStride>(to, N, left, right);
      else if constexpr (N % strip != 0)
        multiply_block<Keep, K, N % strip / simd_lanes, RowStride, KStride>(to, N, left, right);
    }
}

template <bool Keep, bool TransA, bool TransB, int R, int N, class A, class B>
__attribute__((noinline)) void product(reg_tile<float, R, N>& d, A const& a, B const& b) {
  constexpr int K = TransA ? A::rows : A::cols;
  constexpr int left_cols = (TransA ? R : K) + left_gap, left_rows = TransA ? K : R;
  float* const left = panel_memory(left_rows * left_cols + K * N);
  float* const right = left + left_rows * left_cols;
  widen_left(left, a);
  if constexpr (TransB) widen_right_transposed(right, b);
  else widen_right(right, b);
  multiply<Keep, R, N, K, TransA ? 1 : left_cols, TransA ? left_cols : 1>(d.e, left, right);
}

template <class X> TK_DEVICE void hand_back(X&) {}
template <int Running> TK_DEVICE void await_products() {}

}  // namespace tk::be
