// SPDX-License-Identifier: MIT
// Scalar arithmetic without a branch or a call, so that compilers turn loops of it into SIMD.
// exp2 and log2: relative error below 2e-7, exact where the result is a whole power of two (a whole
// number) and at infinities; exp2 is 0 below 2^-125.5. NaN stays NaN. Conversions round to nearest
// even, as core/element.hpp defines them.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "backends/host/arch.hpp"
#include "core/element.hpp"

namespace tk::be {

TK_DEVICE float max(float a, float b) { return a > b ? a : b; }
// For a maximum, which does not pass over NaN.
TK_DEVICE float counted_magnitude(float x) { return x == x ? __builtin_fabsf(x) : 0.f; }
TK_DEVICE float min(float a, float b) { return a < b ? a : b; }
TK_DEVICE float reciprocal(float x) { return 1.f / x; }
TK_DEVICE float rsqrt(float x) { return 1.f / __builtin_sqrtf(x); }
// a * b + c, rounded once.
TK_DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

// The same, but rounded twice where the CPU has no such instruction.
TK_DEVICE float multiply_add(float a, float b, float c) {
#if defined(__FP_FAST_FMAF)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

TK_DEVICE float subtract(float x, float y) { return subtract_rounded(x, y); }

// To global memory, at a multiple of 16 bytes, in one access.
TK_DEVICE void write_16_bytes(void* dst, std::uint32_t const* x) {
  __builtin_memcpy(__builtin_assume_aligned(dst, 16), x, 16);
}
// From a multiple of 16 bytes that nobody reads again soon.
TK_DEVICE void read_16_bytes_once(std::uint32_t* x, void const* src) {
  __builtin_memcpy(x, __builtin_assume_aligned(src, 16), 16);
}

// Of an angle from -pi to pi.
TK_DEVICE float cos(float x) { return std::cos(x); }
TK_DEVICE float sin(float x) { return std::sin(x); }

// 2^x = 2^(n-1) (2 2^f), n = round(x); 2 2^f = 2 + f p(f) on [-1/2, 1/2], p interpolated at
// Chebyshev's points (relative error 5e-9). Far outside the range f is rounding error and made 0; n
// + 126, the exponent's bits, is held between those of 0 and infinity.
TK_DEVICE float exp2(float x) {
  constexpr float round =
      12582912.f + 126.f;  // 1.5 * 2^23: adding it leaves n + 126 in the low bits
  constexpr std::int32_t zero = 0x4b400000, infinite = zero + 255;
  float const shifted = x + round, rest = x - (shifted - round);
  std::uint32_t const keep = static_cast<std::uint32_t>(__builtin_fabsf(x) > 150.f) - 1u;
  float const f = std::bit_cast<float>(std::bit_cast<std::uint32_t>(rest) & keep);
  std::int32_t n = std::bit_cast<std::int32_t>(shifted);
  n = n < zero ? zero : n;
  n = n > infinite ? infinite : n;
  float p = 3.090632588e-04f;
  p = multiply_add(p, f, 2.678172672e-03f);
  p = multiply_add(p, f, 1.923616511e-02f);
  p = multiply_add(p, f, 1.110071423e-01f);
  p = multiply_add(p, f, 4.804530152e-01f);
  p = multiply_add(p, f, 1.386294376e+00f);
  p = multiply_add(p, f, 2.f);
  return p * std::bit_cast<float>(static_cast<std::uint32_t>(n) << 23);
}

// log2(x) = e + 2 atanh(s) / ln 2, x = 2^e m, m in [sqrt(1/2), sqrt(2)), s = (m - 1) / (m + 1); the
// series in s^2 interpolated at Chebyshev's points (relative error 7e-10).
TK_DEVICE float log2(float x) {
  bool const tiny = x < 1.17549435e-38f;
  std::uint32_t const u = std::bit_cast<std::uint32_t>(tiny ? x * 8388608.f : x);
  std::int32_t const e = static_cast<std::int32_t>(u - 0x3f3504f3u) >> 23;  // that is sqrt(1/2)
  float const m = std::bit_cast<float>(u - (static_cast<std::uint32_t>(e) << 23));
  float const s = (m - 1.f) / (m + 1.f), z = s * s;
  float p = 4.317613991e-01f;
  p = multiply_add(p, z, 5.767135682e-01f);
  p = multiply_add(p, z, 9.617988533e-01f);
  p = multiply_add(p, z, 2.885390080e+00f);
  float const y = multiply_add(p, s, static_cast<float>(e) - (tiny ? 23.f : 0.f));
  float const infinity = __builtin_huge_valf();
  float const special = x == 0.f ? -infinity : x < 0.f ? __builtin_nanf("") : x;
  return x > 0.f && x < infinity ? y : special;
}

// ---- packed elements, as bits
TK_DEVICE std::uint32_t bits_of(bf16, float x) {
  std::uint32_t const u = std::bit_cast<std::uint32_t>(x);
  std::uint32_t const rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
  return x != x ? u >> 16 | 0x40 : rounded;
}
TK_DEVICE float value_of(bf16, std::uint32_t bits) { return std::bit_cast<float>(bits << 16); }

TK_DEVICE std::uint32_t bits_of(fp16, float x) {
  std::uint32_t const u = std::bit_cast<std::uint32_t>(x), sign = u >> 16 & 0x8000;
  std::uint32_t const magnitude = u & 0x7fffffff;
  // Below 2^-14, adding 1/2 leaves the rounded multiple of 2^-24 in the low bits.
  std::uint32_t const small =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  std::uint32_t const rounded = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  std::uint32_t const finite = magnitude < 0x38800000 ? small : rounded;
  std::uint32_t const large = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
  return sign | (magnitude < 0x477ff000 ? finite : large);  // 65520 and up is infinity
}
TK_DEVICE float value_of(fp16, std::uint32_t bits) {
  std::uint32_t const sign = (bits & 0x8000) << 16, magnitude = (bits & 0x7fff) << 13;
  std::uint32_t const normal = magnitude + (magnitude < 0x0f800000 ? 0x38000000 : 0x70000000);
  // A subnormal's bits under the exponent of 2^-14 are 2^-14 too much.
  float const small = std::bit_cast<float>(magnitude + 0x38800000) - 6.103515625e-05f;
  std::uint32_t const y = magnitude < 0x00800000 ? std::bit_cast<std::uint32_t>(small) : normal;
  return std::bit_cast<float>(sign | y);
}

TK_DEVICE float value_of(fp8_e5m2, std::uint32_t bits) { return value_of(fp16{}, bits << 8); }
TK_DEVICE float value_of(fp8_e4m3, std::uint32_t bits) {
  std::uint32_t const sign = (bits & 0x80) << 24, magnitude = (bits & 0x7f) << 20;
  // A subnormal's bits under the exponent of 2^-6 are 2^-6 too much.
  float const small = std::bit_cast<float>(magnitude + 0x3c800000) - 0.015625f;
  std::uint32_t const normal = magnitude + (magnitude < 0x07f00000 ? 0x3c000000 : 0x77d00000);
  std::uint32_t const y = magnitude < 0x00800000 ? std::bit_cast<std::uint32_t>(small) : normal;
  return std::bit_cast<float>(sign | y);
}
TK_DEVICE float value_of(boolean, std::uint32_t bits) { return bits != 0 ? 1.f : 0.f; }
template <class T>
  requires(sizeof(T) == 1)
TK_DEVICE std::uint32_t bits_of(T, float x) {
  return format_of<T>::round_at_once(x);
}

template <class T> TK_DEVICE std::uint32_t pack(T type, float lo, float hi) {
  return bits_of(type, hi) << 8 * sizeof(T) | bits_of(type, lo);
}
// Of fp8, the largest number for what is larger.
template <class T> TK_DEVICE std::uint32_t pack_saturated(T type, float lo, float hi) {
  return pack(type, saturate<T>(lo), saturate<T>(hi));
}
template <class T> TK_DEVICE float widen(T x) { return value_of(T{}, x.bits); }
TK_DEVICE float widen(float x) { return x; }
template <class T> TK_DEVICE T narrow(float x) {
  if constexpr (sizeof(T) == 4) return x;
  else return {static_cast<decltype(T::bits)>(bits_of(T{}, x))};
}

}  // namespace tk::be
