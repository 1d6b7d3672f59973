// SPDX-License-Identifier: MIT
// Element types: bf16, fp16, fp8 (e4m3, e5m2) as bits, booleans, and their conversions.
// round_to<T>(float) rounds to nearest even and keeps NaN; overflow gives infinity, or the largest
// finite number for e4m3, which has no infinity (OCP 8-bit floating point specification,
// saturating). widen(x) is exact; of a boolean it is 1 or 0. These bodies are the definition; a
// backend's intrinsics do the same in one instruction where there is one.
#pragma once
#include <bit>
#include <cstdint>

namespace tk {

struct bf16 {
  std::uint16_t bits;
};
struct fp16 {
  std::uint16_t bits;
};
struct fp8_e4m3 {
  std::uint8_t bits;
};
struct fp8_e5m2 {
  std::uint8_t bits;
};
struct boolean {  // false where its byte is 0
  std::uint8_t bits;
};

// A binary format of 1 + Exponent + Mantissa bits.
template <int Exponent, int Mantissa, bool HasInfinity> struct float_format {
  static constexpr int bias = (1 << (Exponent - 1)) - 1, mantissa = Mantissa;
  static constexpr std::uint32_t exponents = (1u << Exponent) - 1;
  static constexpr std::uint32_t sign = 1u << (Exponent + Mantissa);
  static constexpr std::uint32_t infinity = exponents << Mantissa;
  // Without infinities only the pattern of all ones is NaN, and the one below it is the largest.
  static constexpr std::uint32_t nan = HasInfinity ? infinity | 1u << (Mantissa - 1) : sign - 1;
  static constexpr std::uint32_t largest = HasInfinity ? infinity - 1 : sign - 2;

  static constexpr std::uint32_t round(float x) {
    std::uint32_t const u = std::bit_cast<std::uint32_t>(x), magnitude = u & 0x7fffffff;
    std::uint32_t const s = u >> 31 ? sign : 0;
    if (magnitude > 0x7f800000) return s | nan;
    int const e = static_cast<int>(magnitude >> 23) - 127 + bias;
    int const drop = 23 - Mantissa + (e < 1 ? 1 - e : 0);  // subnormals lose more bits
    if (drop > 25) return s;
    std::uint32_t const full = (magnitude & 0x7fffff) | (magnitude >> 23 ? 0x800000 : 0);
    std::uint32_t const kept = full >> drop, rest = full & ((1u << drop) - 1);
    std::uint32_t const half = 1u << (drop - 1);
    std::uint32_t const up = rest > half || (rest == half && (kept & 1)) ? 1 : 0;
    // A carry out of the mantissa moves into the exponent, as it should.
    std::uint32_t const y = kept + up + (e < 1 ? 0 : static_cast<std::uint32_t>(e - 1) << Mantissa);
    return s | (y > largest ? (HasInfinity ? infinity : largest) : y);
  }
  // The same without a branch, for loops that should become SIMD.
  static constexpr std::uint32_t round_at_once(float x) {
    constexpr int drop = 23 - Mantissa;
    constexpr std::uint32_t least_normal = static_cast<std::uint32_t>(128 - bias) << 23,
                            least_exponent = least_normal - (1u << 23),
                            most = HasInfinity ? infinity : largest;
    // Adding as many units of subnormals as a float counts leaves their rounded number in its low
    // bits.
    constexpr std::uint32_t units = static_cast<std::uint32_t>(151 - bias - Mantissa) << 23;
    std::uint32_t const u = std::bit_cast<std::uint32_t>(x), magnitude = u & 0x7fffffff;
    std::uint32_t const small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) +
                                                             std::bit_cast<float>(units)) -
                                units;
    std::uint32_t const normal =
        (magnitude - least_exponent + (1u << (drop - 1)) - 1 + (magnitude >> drop & 1)) >> drop;
    std::uint32_t const finite = magnitude < least_normal ? small : normal;
    std::uint32_t const limited = finite < most ? finite : most;
    return (u >> 31) * sign | (magnitude > 0x7f800000 ? nan : limited);
  }
  static constexpr float widen(std::uint32_t x) {
    std::uint32_t const s = x & sign ? 0x80000000 : 0, m = x & ((1u << Mantissa) - 1);
    std::uint32_t const e = x >> Mantissa & exponents;
    if (HasInfinity && e == exponents)
      return std::bit_cast<float>(s | 0x7f800000 | m << (23 - Mantissa));
    if (!HasInfinity && (x & (sign - 1)) == nan) return std::bit_cast<float>(s | 0x7fc00000);
    if (e == 0) {  // m * 2^(1 - bias - Mantissa)
      float const unit =
          std::bit_cast<float>(static_cast<std::uint32_t>(128 - bias - Mantissa) << 23);
      float const y = static_cast<float>(m) * unit;
      return s ? -y : y;
    }
    return std::bit_cast<float>(s | (e + 127 - bias) << 23 | m << (23 - Mantissa));
  }
};

template <class T> struct format_of;
template <> struct format_of<fp16> : float_format<5, 10, true> {};
template <> struct format_of<fp8_e4m3> : float_format<4, 3, false> {};
template <> struct format_of<fp8_e5m2> : float_format<5, 2, true> {};
template <> struct format_of<bf16> {
  static constexpr std::uint32_t round(float x) {
    std::uint32_t const u = std::bit_cast<std::uint32_t>(x);
    if ((u & 0x7fffffff) > 0x7f800000) return (u >> 16) | 0x40;
    return (u + 0x7fff + (u >> 16 & 1)) >> 16;
  }
  static constexpr float widen(std::uint32_t x) { return std::bit_cast<float>(x << 16); }
};
template <> struct format_of<boolean> {
  static constexpr std::uint32_t round(float x) { return x != 0.f; }
  static constexpr float widen(std::uint32_t x) { return x != 0 ? 1.f : 0.f; }
};

template <class T> inline constexpr float largest_of = format_of<T>::widen(format_of<T>::largest);
// Of fp8: the largest number for what is larger, which in a format without infinities rounding
// gives anyway; NaN stays.
template <class T> constexpr float saturate(float x) {
  constexpr float most = largest_of<T>;
  if constexpr (format_of<T>::largest == format_of<T>::nan - 1) return x;
  else return x > most ? most : x < -most ? -most : x;
}

template <class T> constexpr T round_to(float x) {
  return T{static_cast<decltype(T::bits)>(format_of<T>::round(x))};
}
template <> constexpr float round_to<float>(float x) { return x; }
template <class T> constexpr float widen(T x) { return format_of<T>::widen(x.bits); }
constexpr float widen(float x) { return x; }

// x - y on a CPU, of rounded numbers: GCC fuses a product with the sum that takes it, in vectors of
// them also through its own barrier, but takes no fused operation apart.
inline float subtract_rounded(float x, float y) {
#if defined(__FP_FAST_FMAF)
  return __builtin_fmaf(y, -1.f, x);
#else
  return x - y;
#endif
}

}  // namespace tk
