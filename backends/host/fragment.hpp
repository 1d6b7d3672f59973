// SPDX-License-Identifier: MIT
// What core/ needs to know of this backend: the register layout. A worker's one lane holds a whole
// tile, row-major:
//   (lane 0, element i) -> (row i / C, col i % C)
#pragma once
#include <atomic>

#include "backends/host/transpose.hpp"

namespace tk::be {

TK_DEVICE int worker_lane() { return 0; }

template <int R, int C> struct fragment_map {
  static_assert((R % 16 == 0 || R < 16) && C % 16 == 0,
                "a register tile's dimensions are multiples of 16, or its rows below 16");
  static constexpr int rows = R, cols = C, lanes = 1, count = R * C, rows_per_lane = R, chains = 16,
                       run = 8;
  static constexpr int row_index(int i) { return i / C; }
  static constexpr int row(int r) { return r; }
  static constexpr int col(int i) { return static_cast<int>(static_cast<unsigned>(i) % C); }
  static constexpr int element(int r, int k) { return r * C + k; }
  static constexpr int nth(int i) {
    return R == 1 ? i : static_cast<int>(static_cast<unsigned>(i) % C);
  }
  static constexpr int lane_row(int) { return 0; }
  static constexpr int lane_col(int) { return 0; }
  // The i-th element of the part-th V columns. Compilers see neighbours in it where nothing is
  // divided.
  template <int V> static constexpr int part(int i, int part) {
    return R == 1 ? part * V + i : i / V * C + part * V + i % V;
  }
  // body(i, r, chain): sixteen neighbours belong to sixteen chains of a reduction.
  template <class Body> static TK_DEVICE void for_each(Body body) {
    for (int r = 0; r < R; ++r)
      for (int first = 0; first < C; first += chains)
#if defined(__clang__)  // clang 19 unrolls what it could have vectorised
#pragma clang loop unroll(disable)
#endif
        for (int k = 0; k < chains; ++k) body(r * C + first + k, r, k);
  }
  // The first n columns of a row, as numbers.
  template <class T> static TK_DEVICE void widen(float* dst, T const* src, int n) {
    widen_line(dst, src, n);
  }
  // Columns [begin, end) of a row of a flat tile to a tensor of so many bytes. In halves, of each
  // 32 columns those with even numbers come first.
  template <bool InHalves, class T>
  static TK_DEVICE void write_line(T* dst, float const (&line)[C], int begin, int end,
                                   std::int64_t bytes) {
    write_rounded<InHalves>(dst, line, begin, end, bytes);
  }
  // to[c, r] = from[r, c] of so many rows and columns, into a tensor of so many bytes.
  template <class T>
  static TK_DEVICE void transpose(T* through, T* to, std::int64_t to_stride, T const* from,
                                  std::int64_t from_stride, int rows, int cols,
                                  std::int64_t bytes) {
    transpose_block<R, C>(through, to, to_stride, from, from_stride, rows, cols, bytes);
  }
};
template <int R> struct column_map {
  static constexpr int count = R;
};

TK_DEVICE std::uint32_t opaque(std::uint32_t x) { return x; }  // backends/sm_80/fragment.hpp
// Adds to a number, whole, or to four.
TK_DEVICE void add_to_global(float* p, float x) {
  std::atomic_ref<float>(*p).fetch_add(x, std::memory_order_relaxed);
}
TK_DEVICE void add_to_global(float* p, float a, float b, float c, float d) {
  add_to_global(p, a), add_to_global(p + 1, b), add_to_global(p + 2, c), add_to_global(p + 3, d);
}
// Products of the fp16 numbers in the halves of a and b.
TK_DEVICE std::uint32_t multiply_fp16x2(std::uint32_t a, std::uint32_t b) {
  auto const half = [](std::uint32_t x, int i) { return value_of(fp16{}, x >> 16 * i & 0xffff); };
  return pack(fp16{}, half(a, 0) * half(b, 0), half(a, 1) * half(b, 1));
}
// The products of the halves, each rounded once.
template <class T>
TK_DEVICE std::uint32_t multiply_pairs(T type, std::uint32_t a, std::uint32_t b) {
  auto const half = [&](std::uint32_t x, int i) { return value_of(type, x >> 16 * i & 0xffff); };
  return pack(type, half(a, 0) * half(b, 0), half(a, 1) * half(b, 1));
}
// The larger magnitudes of the halves, of any sign; no NaN counts.
template <class T>
TK_DEVICE std::uint32_t max_magnitudes(T type, std::uint32_t a, std::uint32_t b) {
  auto const larger = [&](int i) {
    auto const magnitude = [&](std::uint32_t x) {
      return __builtin_fabsf(value_of(type, x >> 16 * i & 0xffff));
    };
    float const x = magnitude(a), y = magnitude(b);
    return x > y || y != y ? x : y;
  };
  return pack(type, larger(0), larger(1));
}
// a b + c, and c - a b, of the halves, rounded once or twice.
TK_DEVICE std::uint32_t fma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  auto const sum = [&](int i) {
    auto const half = [i](std::uint32_t w) { return value_of(fp16{}, w >> 16 * i & 0xffff); };
    return half(a) * half(b) + half(c);
  };
  return pack(fp16{}, sum(0), sum(1));
}
TK_DEVICE std::uint32_t fnma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return fma_fp16x2(a ^ 0x80008000, b, c);
}
// Asks caches for what p points at. Advice only, and not taken: processors see streams.
TK_DEVICE void prefetch(void const*) {}
// A row lies in one lane, and so does a column.
template <int R, class F> TK_DEVICE float across_row(float x, F) { return x; }
TK_DEVICE float shuffle_xor(float x, int) { return x; }
TK_DEVICE float max_of_warp(float x) { return x; }
TK_DEVICE std::uint32_t shuffle_before(std::uint32_t x, int) { return x; }
TK_DEVICE bool any_lane(bool x) { return x; }

}  // namespace tk::be
