// SPDX-License-Identifier: MIT
// What core/ needs to know of this backend: the register layout and scalar arithmetic.
// MFMA takes our right operand as its A and our left one as its B, so that an accumulator of L rows
// has row l % L and columns that depend on g = l / L only, as a left operand does. L is 32 where a
// tile's rows are a multiple of 32, else 16. Which column is which is up to the order in which
// right operands are read (mma.hpp); a lane holds runs of W = L / 4:
//   (lane l, i-th element of row r) -> (row Q (l % L) + row(r), col 16 (i / W) + W g + i % W)
// Q = 2 interleaves blocks of rows where there are two, so that a lane's rows are neighbours and
// one word of a row of k holds both; chips with transposing reads need none of that.
#pragma once
#include "backends/select.hpp"

#include TK_VENDOR(intrinsics.hpp)
#include "core/flat_map.hpp"

namespace tk::be {

TK_DEVICE int worker_lane() { return gcn::lane(); }
// This lane where it reads or writes `many` elements in LDS: their places, kept in registers from
// before a kernel's loop, would leave large tiles none (clang 22 then spilled 350 of them).
template <bool Many> TK_DEVICE int lane_of_tile() {
  if constexpr (Many) return gcn::opaque_in_lane(worker_lane());
  else return worker_lane();
}

template <int R, int C> struct fragment_map {
  static_assert(R % 16 == 0 && C % 16 == 0, "a register tile's dimensions are multiples of 16");
  static constexpr int L = R % 32 == 0 ? 32 : 16, G = 64 / L, W = L / 4,
                       Q = R % (2 * L) == 0 && !has_transposed_reads ? 2 : 1;
  static constexpr int rows = R, cols = C, lanes = worker_lanes;
  static constexpr int count = R * C / lanes, rows_per_lane = R / L, per_row = C / G, chains = 2;
  static TK_BOTH constexpr int row_index(int i) { return i / per_row; }
  static TK_BOTH constexpr int row(int r) { return r / Q * Q * L + r % Q; }
  static TK_BOTH constexpr int col(int i) { return i % per_row / W * 16 + i % W; }
  static TK_BOTH constexpr int element(int r, int k) { return r * per_row + k; }
  static TK_BOTH constexpr int nth(int i) { return i % per_row; }
  static TK_BOTH constexpr int lane_row(int lane) { return Q * (lane & (L - 1)); }
  static TK_BOTH constexpr int lane_col(int lane) { return W * (lane >> (L == 32 ? 5 : 4)); }
  // The i-th element of the p-th V columns.
  template <int V> static TK_BOTH constexpr int part(int i, int p) {
    return i / (V / G) * per_row + p * (V / G) + i % (V / G);
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
  static constexpr int count = fragment_map<R, 16>::rows_per_lane;
};
template <int R>
  requires(R < 16)
struct column_map<R> {
  static constexpr int count = flat_rows_per_lane<R>;
};

TK_DEVICE float max(float a, float b) { return gcn::max(a, b); }
// For a maximum, which passes over NaN.
TK_DEVICE float counted_magnitude(float x) { return __builtin_fabsf(x); }
TK_DEVICE float min(float a, float b) { return gcn::min(a, b); }
TK_DEVICE float exp2(float x) { return gcn::exp2(x); }
// Of an angle from -pi to pi, to about 2^-20.
TK_DEVICE float cos(float x) { return gcn::cos(x * 0.15915494f); }
TK_DEVICE float sin(float x) { return gcn::sin(x * 0.15915494f); }
TK_DEVICE float log2(float x) { return gcn::log2(x); }
// x - y, not fused with the product that x may be.
TK_DEVICE float subtract(float x, float y) { return gcn::subtract(x, y); }
TK_DEVICE float reciprocal(float x) { return gcn::reciprocal(x); }
TK_DEVICE float rsqrt(float x) { return gcn::rsqrt(x); }
// a * b + c, rounded once.
TK_DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

// To global memory, at a multiple of 16 bytes, in one access.
TK_DEVICE void write_16_bytes(void* dst, std::uint32_t const* x) {
  __builtin_memcpy(__builtin_assume_aligned(dst, 16), x, 16);
}
// From a multiple of 16 bytes that nobody reads again soon.
TK_DEVICE void read_16_bytes_once(std::uint32_t* x, void const* src) {
  __builtin_memcpy(x, __builtin_assume_aligned(src, 16), 16);
}

// The upper half of the result is x rounded to nearest even.
TK_DEVICE std::uint32_t round_high(float x) {
  auto const u = std::bit_cast<std::uint32_t>(x);
  return x != x ? u | 0x400000 : u + 0x7fff + (u >> 16 & 1);
}
template <bool Native = has_bf16_pack> TK_DEVICE std::uint32_t pack(bf16, float lo, float hi) {
  if constexpr (Native) return gcn::pack_bf16<Native>(lo, hi);
  return gcn::permute(round_high(hi), round_high(lo), 0x07060302);
}
TK_DEVICE std::uint32_t pack(fp16, float lo, float hi) { return gcn::pack_fp16(lo, hi); }
TK_DEVICE float widen(bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }
TK_DEVICE float widen(fp16 x) { return gcn::from_fp16(x.bits); }
TK_DEVICE float widen(float x) { return x; }
template <class T>
  requires(sizeof(T) == 1)
TK_DEVICE std::uint32_t pack(T, float lo, float hi) {
  return format_of<T>::round_at_once(hi) << 8 | format_of<T>::round_at_once(lo);
}
// Of fp8, the largest number for what is larger.
template <class T> TK_DEVICE std::uint32_t pack_saturated(T type, float lo, float hi) {
  return pack(type, saturate<T>(lo), saturate<T>(hi));
}
template <class T>
  requires(sizeof(T) == 1)
TK_DEVICE float widen(T x) {
  return tk::widen(x);
}
TK_DEVICE std::uint32_t multiply_fp16x2(std::uint32_t a, std::uint32_t b) {
  return gcn::multiply_fp16x2(a, b);
}
// The products of the halves, each rounded once.
template <class T>
TK_DEVICE std::uint32_t multiply_pairs(T type, std::uint32_t a, std::uint32_t b) {
  auto const half = [](std::uint32_t x, int i) {
    return widen(T{static_cast<std::uint16_t>(x >> 16 * i)});
  };
  return pack(type, half(a, 0) * half(b, 0), half(a, 1) * half(b, 1));
}
// The larger magnitudes of the halves, of any sign; no NaN counts.
template <class T>
TK_DEVICE std::uint32_t max_magnitudes(T type, std::uint32_t a, std::uint32_t b) {
  auto const magnitude = [](std::uint32_t x, int i) {
    return __builtin_fabsf(widen(T{static_cast<std::uint16_t>(x >> 16 * i)}));
  };
  return pack(type, be::max(magnitude(a, 0), magnitude(b, 0)),
              be::max(magnitude(a, 1), magnitude(b, 1)));
}
// a b + c, and c - a b, of the halves, rounded once.
TK_DEVICE std::uint32_t fma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return gcn::fma_fp16x2(a, b, c);
}
TK_DEVICE std::uint32_t fnma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return gcn::fma_fp16x2(a ^ 0x80008000, b, c);
}
// Asks caches for the line of global memory that p is in. Advice only, and not taken.
TK_DEVICE void prefetch(void const*) {}
// Adds to a number in global memory, whole, or to four.
TK_DEVICE void add_to_global(float* p, float x) { gcn::add_to_global(p, x); }
TK_DEVICE void add_to_global(float* p, float a, float b, float c, float d) {
  gcn::add_to_global(p, a);
  gcn::add_to_global(p + 1, b);
  gcn::add_to_global(p + 2, c);
  gcn::add_to_global(p + 3, d);
}

// x, of which the compiler knows nothing: what follows from it is computed where it is written, and
// not kept in registers from before.
TK_DEVICE std::uint32_t opaque(std::uint32_t x) {
  return static_cast<std::uint32_t>(gcn::opaque_in_lane(static_cast<int>(x)));
}
// The value of the lane whose number differs in the bits of `mask`.
TK_DEVICE float shuffle_xor(float x, int mask) { return gcn::shuffle_xor(x, mask); }
// The largest of a warp's numbers, none of which is negative, or NaN.
TK_DEVICE float max_of_warp(float x) {
  TK_UNROLL
  for (int bit = 1; bit < warp_lanes; bit *= 2) x = max(x, shuffle_xor(x, bit));
  return x;
}
// That of the lane before, among as many lanes; the first has that of the last.
TK_DEVICE std::uint32_t shuffle_before(std::uint32_t x, int lanes) {
  return gcn::shuffle_before(x, lanes);
}
// Whether it is true in any lane of the wave.
TK_DEVICE bool any_lane(bool x) { return gcn::any(x); }
// Combines the values of the lanes that hold one row of an R x C tile: two or four.
template <int R, class F> TK_DEVICE float across_row(float x, F f) {
  if constexpr (fragment_map<R, 16>::L == 16) x = f(x, gcn::shuffle_xor(x, 16));
  return f(x, gcn::shuffle_xor(x, 32));
}

}  // namespace tk::be
