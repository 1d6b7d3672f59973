// SPDX-License-Identifier: MIT
// Products over the slots of a task (core/accumulate.hpp). Few rows multiply the right tile where
// it lies, mostly in memory: a panel of it would be read no more often than it is written. Sums are
// those of many rows, bit for bit.
#pragma once
#include <algorithm>
#include <atomic>

#include "backends/host/mma.hpp"

namespace tk::be {

inline constexpr int few_rows = 4;

// d += a b, eight rows of b at a time, each from one end to the other: memory is fast where it is
// read along rows.
template <class B, int Rows, int RowStride, int KStride>
void multiply_few(float* d, float const* a, placed<typename B::element> b, int cols, int terms) {
  constexpr int panel = B::panel_cols, at_once = 8;
  auto const add = [&](int k, auto count) __attribute__((always_inline)) {
    for (int p = 0; p * panel < cols; ++p) {
      auto const* const from = b.at(k, p);
      for (int c = 0; c < panel; c += simd_lanes) {
        float* const to = d + p * panel + c;
        simd sum[Rows];
        for (int r = 0; r < Rows; ++r) sum[r] = load_simd(to + r * B::cols);
        unrolled<count>([&](auto i) __attribute__((always_inline)) {
          simd const right = widen_simd(from + i * b.row_stride + c);
          for (int r = 0; r < Rows; ++r) sum[r] += a[r * RowStride + (k + i) * KStride] * right;
        });
        for (int r = 0; r < Rows; ++r) store_simd(to + r * B::cols, sum[r]);
      }
    }
  };
  int k = 0;
  for (; k + at_once <= terms; k += at_once) add(k, std::integral_constant<int, at_once>{});
  for (; k < terms; ++k) add(k, std::integral_constant<int, 1>{});
}

// The same with b[n, k]. Two sums, of which each waits for itself alone.
template <class B, int Rows, int RowStride, int KStride>
void multiply_few_transposed(float* d, float const* a, placed<typename B::element> b, int cols,
                             int terms) {
  constexpr int N = B::rows, V = N % strip == 0 ? 2 : 1, block = lines<B>::block;
  for (int n = 0; n < cols; n += V * simd_lanes) {
    simd sum[Rows][V];
    lines<B> from[V];
    unrolled<V>([&](auto v) {
      from[v] = lines<B>(b, n + v * simd_lanes);
      for (int r = 0; r < Rows; ++r) sum[r][v] = load_simd(d + r * N + n + v * simd_lanes);
    });
    auto const add = [&](auto v, int k, simd right) __attribute__((always_inline)) {
      for (int r = 0; r < Rows; ++r) sum[r][v] += a[r * RowStride + k * KStride] * right;
    };
    int k = 0;
    for (; k + block <= terms; k += block)
      unrolled<V>([&](auto v) __attribute__((always_inline)) {
        // Else compilers keep what is loaded of a for the next v, in registers that there are not.
        std::atomic_signal_fence(std::memory_order_seq_cst);
        from[v].for_each(
            k, [&](int i, simd right) __attribute__((always_inline)) { add(v, k + i, right); });
      });
    if (k < terms)
      unrolled<V>([&](auto v) {
        simd last[block];
        from[v].for_each(k, [&](int i, simd right) { last[i] = right; });
        for (int i = 0; k + i < terms; ++i) add(v, k + i, last[i]);
      });
    unrolled<V>([&](auto v) {
      for (int r = 0; r < Rows; ++r) store_simd(d + r * N + n + v * simd_lanes, sum[r][v]);
    });
  }
}

template <bool TransA, bool TransB, class A, class B, int R, int N>
__attribute__((noinline)) void product_of_few(reg_tile<float, R, N>& d,
                                              placed<typename A::element> const& left,
                                              placed<typename B::element> const& right, int rows,
                                              int cols, int terms) {
  using panel = left_panel<TransA, R, A>;
  float* const a = panel_memory(panel::floats);
  widen_left<A>(a, left);
  auto const at = [&](int row, auto count) {
    float* const to = d.e + row * N;
    float const* const from = a + row * panel::row_stride;
    if constexpr (TransB)
      multiply_few_transposed<B, count, panel::row_stride, panel::k_stride>(to, from, right, cols,
                                                                            terms);
    else multiply_few<B, count, panel::row_stride, panel::k_stride>(to, from, right, cols, terms);
  };
  int row = 0;
  for (; row + 2 <= rows; row += 2) at(row, std::integral_constant<int, 2>{});
  if (row < rows) at(row, std::integral_constant<int, 1>{});
}

// d += a b, of what lies inside the tensors.
template <bool TransA, bool TransB, class A, class B, int R, int N>
TK_DEVICE void product_of_loaded(reg_tile<float, R, N>& d, A const& a, B const& b,
                                 loaded_tiles const& loaded) {
  auto const left = loaded.find(a);
  auto const right = loaded.find(b);
  int const rows = TransA ? left.cols : left.rows, cols = TransB ? right.rows : right.cols;
  int const of_left = TransA ? left.rows : left.cols, of_right = TransB ? right.cols : right.rows;
  int const terms = std::min(of_left, of_right);
  if (rows <= few_rows) product_of_few<TransA, TransB, A, B>(d, left, right, rows, cols, terms);
  else product_of<true, TransA, TransB, A, B>(d, left, right, rows, cols, terms);
}

}  // namespace tk::be
