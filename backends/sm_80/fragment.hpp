// SPDX-License-Identifier: MIT
// What core/ needs to know of an NVIDIA backend: the register layout and scalar arithmetic.
// A fragment is the accumulator of wgmma.m64nNk16, or of mma.m16n8k16 in each of four warps:
//   (lane L, element i) -> (row 16 w + g + 8 ((i >> 1) & 1), col 8 (i >> 2) + 2 t + (i & 1))
// with L of 128, w = L >> 5, g = (L & 31) >> 2, t = L & 3; R / 64 such blocks lie one after
// another. Pairs (i, i + 1) packed to 16 bits are, in the same order, the A operand of the next
// product.
#pragma once
#include <cmath>

#include "backends/backend.hpp"
#include "core/flat_map.hpp"

#include TK_VENDOR(intrinsics.hpp)

namespace tk::be {

TK_DEVICE int worker_lane() { return ptx::thread() % worker_lanes; }

template <int R, int C> struct fragment_map {
  static_assert(R % worker_rows == 0, "a register tile has a multiple of 64 rows on this chip");
  static_assert(C % 16 == 0, "a register tile has a multiple of 16 columns");
  static constexpr int rows = R, cols = C, lanes = worker_lanes;
  static constexpr int count = R * C / lanes, rows_per_lane = R / 32, chains = 2;
  static TK_BOTH constexpr int row_index(int i) { return 2 * (i / (C / 2)) + ((i >> 1) & 1); }
  static TK_BOTH constexpr int row(int r) { return 64 * (r >> 1) + 8 * (r & 1); }
  static TK_BOTH constexpr int col(int i) { return 8 * (i % (C / 2) >> 2) + (i & 1); }
  static TK_BOTH constexpr int element(int r, int k) {
    return (r >> 1) * (C / 2) + (k >> 1) * 4 + (r & 1) * 2 + (k & 1);
  }
  static TK_BOTH constexpr int nth(int i) { return (i % (C / 2) >> 2) * 2 + (i & 1); }
  static TK_BOTH constexpr int lane_row(int lane) { return 16 * (lane >> 5) + (lane >> 2 & 7); }
  static TK_BOTH constexpr int lane_col(int lane) { return 2 * (lane & 3); }
  // Where element i of the p-th V columns, seen as a tile, lies in this one.
  template <int V> static TK_BOTH constexpr int part(int i, int p) {
    return i / (V / 2) * (C / 2) + p * (V / 2) + i % (V / 2);
  }
  // body(i, r, chain): neighbours in a row belong to different chains of a reduction.
  template <class Body> static TK_DEVICE void for_each(Body body) {
    TK_UNROLL
    for (int i = 0; i < count; ++i) body(i, row_index(i), i & 1);
  }
};
template <int R, int C>
  requires(R < 16)
struct fragment_map<R, C> : flat_map<R, C> {};
template <int R> struct column_map {
  static constexpr int count = R < 16 ? flat_rows_per_lane<R> : R / 32;
};

TK_DEVICE float max(float a, float b) { return ptx::max(a, b); }
// For a maximum, which passes over NaN.
TK_DEVICE float counted_magnitude(float x) { return __builtin_fabsf(x); }
TK_DEVICE float min(float a, float b) { return -ptx::max(-a, -b); }
TK_DEVICE float exp2(float x) { return ptx::ex2(x); }
// Of an angle from -pi to pi, to about 2^-20.
TK_DEVICE float cos(float x) { return ptx::cos(x); }
TK_DEVICE float sin(float x) { return ptx::sin(x); }
TK_DEVICE float log2(float x) { return ptx::lg2(x); }
// x - y, not fused with the product that x may be.
TK_DEVICE float subtract(float x, float y) { return ptx::subtract(x, y); }
// To global memory, at a multiple of 16 bytes, in one access.
TK_DEVICE void write_16_bytes(void* dst, std::uint32_t const* x) { ptx::write_16_bytes(dst, x); }
// From a multiple of 16 bytes that nobody reads again soon.
TK_DEVICE void read_16_bytes_once(std::uint32_t* x, void const* src) {
  ptx::read_16_bytes_once(x, src);
}
TK_DEVICE float reciprocal(float x) { return ptx::reciprocal(x); }
TK_DEVICE float rsqrt(float x) { return ptx::rsqrt(x); }
// a * b + c, rounded once.
TK_DEVICE float fma(float a, float b, float c) { return std::fma(a, b, c); }
template <class T> TK_DEVICE std::uint32_t pack(T type, float lo, float hi) {
  if constexpr (sizeof(T) == 2 || (has_fp8 && std::is_same_v<T, fp8_e4m3>))
    return ptx::pack(type, lo, hi);
  else if constexpr (has_fp8) {  // whose instruction gives the largest number for infinity
    constexpr float too_large = 61440;
    std::uint32_t y = ptx::pack(type, lo, hi);
    if (__builtin_fabsf(lo) >= too_large) y = (y & 0xff80) | 0x7c;
    if (__builtin_fabsf(hi) >= too_large) y = (y & 0x80ff) | 0x7c00;
    return y;
  } else {
    return format_of<T>::round_at_once(hi) << 8 | format_of<T>::round_at_once(lo);
  }
}
// Of fp8, the largest number for what is larger.
template <class T> TK_DEVICE std::uint32_t pack_saturated(T type, float lo, float hi) {
  if constexpr (has_fp8) return ptx::pack(type, lo, hi);
  else return pack(type, saturate<T>(lo), saturate<T>(hi));
}
template <class T> TK_DEVICE float widen(T x) {
  if constexpr (sizeof(T) == 2) return ptx::widen(x);
  else return tk::widen(x);
}
TK_DEVICE float widen(float x) { return x; }
TK_DEVICE std::uint32_t multiply_fp16x2(std::uint32_t a, std::uint32_t b) {
  return ptx::multiply_fp16x2(a, b);
}
// The larger magnitudes of the halves, of any sign; no NaN counts.
TK_DEVICE std::uint32_t max_magnitudes(bf16, std::uint32_t a, std::uint32_t b) {
  return ptx::max_magnitudes_bf16x2(a, b);
}
TK_DEVICE std::uint32_t max_magnitudes(fp16, std::uint32_t a, std::uint32_t b) {
  return ptx::max_magnitudes_fp16x2(a, b);
}
// a b + c, and c - a b, of the halves, rounded once.
TK_DEVICE std::uint32_t fma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return ptx::fma_fp16x2(a, b, c);
}
TK_DEVICE std::uint32_t fnma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return ptx::fnma_fp16x2(a, b, c);
}
// The products of the halves, each rounded once.
TK_DEVICE std::uint32_t multiply_pairs(fp16, std::uint32_t a, std::uint32_t b) {
  return ptx::multiply_fp16x2(a, b);
}
TK_DEVICE std::uint32_t multiply_pairs(bf16, std::uint32_t a, std::uint32_t b) {
  return ptx::multiply_bf16x2(a, b);
}
// Asks caches for the line of global memory, 128 bytes, that p is in. Advice only.
TK_DEVICE void prefetch(void const* p) { ptx::prefetch(p); }
// Adds to a number in global memory, whole, or to four, of which p is a multiple of 16 bytes.
TK_DEVICE void add_to_global(float* p, float x) { ptx::add_to_global(p, x); }
TK_DEVICE void add_to_global(float* p, float a, float b, float c, float d) {
  ptx::add_to_global(p, a, b, c, d);
}
// x, of which the compiler knows nothing: what follows from it is computed where it is written, and
// not kept in registers from before.
TK_DEVICE std::uint32_t opaque(std::uint32_t x) {
  return static_cast<std::uint32_t>(ptx::opaque(static_cast<int>(x)));
}
// The value of the lane whose number in its warp differs in the bits of `mask`.
TK_DEVICE float shuffle_xor(float x, int mask) { return ptx::shuffle_xor(x, mask); }
// The largest of a warp's numbers, none of which is negative, or NaN.
TK_DEVICE float max_of_warp(float x) { return ptx::max_of_warp(x); }
// That of the lane before, among as many lanes; the first has that of the last.
TK_DEVICE std::uint32_t shuffle_before(std::uint32_t x, int lanes) {
  return ptx::shuffle_before(x, lanes);
}
// Whether it is true in any lane of the warp.
TK_DEVICE bool any_lane(bool x) { return !ptx::all(!x); }
// Combines the values of the lanes that hold one row of an R x C tile.
template <int R, class F> TK_DEVICE float across_row(float x, F f) {
  x = f(x, ptx::shuffle_xor(x, 1));
  return f(x, ptx::shuffle_xor(x, 2));
}

}  // namespace tk::be
