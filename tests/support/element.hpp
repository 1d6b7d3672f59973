// SPDX-License-Identifier: MIT
// Element types as the tests see them: bits <-> double, written apart from core/element.hpp so that
// a fault there cannot hide itself. rounded(type, x) is x rounded once, to nearest even, with
// subnormals and overflow to infinity (which fp8 e4m3 does not hold); it is monotonous, which the
// element-wise bounds rely on. Integers hold what a double does.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tk::test {

enum class dtype : int { bf16, fp16, fp32, int32, int64, fp8_e4m3, fp8_e5m2, boolean, uint8 };
constexpr bool is_fp8(dtype t) { return t == dtype::fp8_e4m3 || t == dtype::fp8_e5m2; }
constexpr bool is_byte(dtype t) { return t == dtype::boolean || t == dtype::uint8; }
constexpr bool is_integer(dtype t) { return t == dtype::int32 || t == dtype::int64 || is_byte(t); }

struct number_format {
  char const* name;
  int bytes, fraction_bits, least_exponent;
  double largest, unit_roundoff, least_normal;
};
constexpr number_format format_of(dtype t) {
  switch (t) {
    case dtype::bf16: return {"bf16", 2, 7, -126, 0x1.fep127, 0x1p-8, 0x1p-126};
    case dtype::fp16: return {"fp16", 2, 10, -14, 65504.0, 0x1p-11, 0x1p-14};
    case dtype::fp8_e4m3: return {"fp8 e4m3", 1, 3, -6, 448, 0x1p-4, 0x1p-6};
    case dtype::fp8_e5m2: return {"fp8 e5m2", 1, 2, -14, 57344, 0x1p-3, 0x1p-14};
    case dtype::int32: return {"int32", 4, 0, 0, 0x1p31, 0, 1};
    case dtype::int64: return {"int64", 8, 0, 0, 0x1p63, 0, 1};
    case dtype::boolean: return {"bool", 1, 0, 0, 1, 0, 1};
    case dtype::uint8: return {"uint8", 1, 0, 0, 255, 0, 1};
    default: return {"fp32", 4, 23, -126, 0x1.fffffep127, 0x1p-24, 0x1p-126};
  }
}
constexpr int bytes_of(dtype t) { return format_of(t).bytes; }
constexpr char const* name_of(dtype t) { return format_of(t).name; }

inline double rounded(dtype t, double x) {
  if (!std::isfinite(x) || is_integer(t)) return x;
  auto const f = format_of(t);
  double y;
  if (std::fabs(x) >= f.least_normal) {
    int const drop = 52 - f.fraction_bits;
    auto u = std::bit_cast<std::uint64_t>(x);
    u += (std::uint64_t{1} << (drop - 1)) - 1 + (u >> drop & 1);
    y = std::bit_cast<double>(u >> drop << drop);
  } else {  // a multiple of the least subnormal: adding 1.5 2^52 of them rounds the rest away
    double const magic = std::ldexp(1.5, 52 + f.least_exponent - f.fraction_bits);
    y = std::copysign((std::fabs(x) + magic) - magic, x);
  }
  return std::fabs(y) > f.largest ? std::copysign(HUGE_VAL, y) : y;
}

// Of 1 sign, 7 - f exponent and f fraction bits. e5m2 has fp16's exponents; of e4m3 all ones is
// NaN, and there is no infinity.
inline double decode_fp8(dtype t, std::byte const* p) {
  auto const f = format_of(t);
  int const bits = std::to_integer<int>(*p), fraction = bits & ((1 << f.fraction_bits) - 1),
            exponent = (bits & 0x7f) >> f.fraction_bits;
  double y = std::ldexp(fraction + (exponent ? 1 << f.fraction_bits : 0),
                        std::max(exponent, 1) - 1 + f.least_exponent - f.fraction_bits);
  if (t == dtype::fp8_e4m3 && (bits & 0x7f) == 0x7f) y = std::nan("");
  if (t == dtype::fp8_e5m2 && exponent == 31) y = fraction ? std::nan("") : HUGE_VAL;
  return bits & 0x80 ? -y : y;
}
inline void encode_fp8(dtype t, double x, std::byte* p) {
  auto const f = format_of(t);
  double const magnitude = std::fabs(x);
  int bits = t == dtype::fp8_e4m3 ? 0x7f : std::isnan(x) ? 0x7e : 0x7c;
  if (std::isfinite(x)) {
    int const e = std::max(magnitude > 0 ? std::ilogb(magnitude) : 0, f.least_exponent);
    auto const units = static_cast<int>(std::ldexp(magnitude, f.fraction_bits - e));
    bits = ((e - f.least_exponent) << f.fraction_bits) + units;
    if (magnitude == 0) bits = 0;
  }
  *p = static_cast<std::byte>(bits | (std::signbit(x) ? 0x80 : 0));
}

inline double decode(dtype t, std::byte const* p) {
  if (is_fp8(t)) return decode_fp8(t, p);
  if (is_byte(t)) return std::to_integer<int>(*p);
  std::uint16_t half;
  if (t == dtype::int32) {
    std::int32_t x;
    std::memcpy(&x, p, 4);
    return x;
  }
  if (t == dtype::int64) {
    std::int64_t x;
    std::memcpy(&x, p, 8);
    return static_cast<double>(x);
  }
  if (t == dtype::fp32) {
    float x;
    std::memcpy(&x, p, 4);
    return x;
  }
  std::memcpy(&half, p, 2);
  if (t == dtype::bf16) return std::bit_cast<float>(std::uint32_t{half} << 16);
  std::uint32_t const magnitude = half & 0x7fffu, sign = (half & 0x8000u) << 16;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | magnitude << 13);
  return double{std::bit_cast<float>(sign | magnitude << 13)} * 0x1p112;  // re-biased: 127 - 15
}

// x must be rounded(t, something).
inline void encode(dtype t, double x, std::byte* p) {
  if (is_fp8(t)) return encode_fp8(t, x, p);
  if (is_integer(t)) {
    auto const whole = static_cast<std::int64_t>(x);
    std::memcpy(p, &whole, static_cast<std::size_t>(bytes_of(t)));  // little endian
    return;
  }
  float const single = static_cast<float>(x);
  if (t == dtype::fp32) {
    std::memcpy(p, &single, 4);
    return;
  }
  auto const u = std::bit_cast<std::uint32_t>(single);
  std::uint16_t half = static_cast<std::uint16_t>(u >> 16);
  if (t != dtype::bf16) {
    std::uint32_t const sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffff;
    std::uint32_t const scaled =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p-112f) >> 13;
    half = static_cast<std::uint16_t>(sign | (magnitude > 0x7f800000    ? 0x7e00
                                              : magnitude == 0x7f800000 ? 0x7c00
                                                                        : scaled));
  }
  std::memcpy(p, &half, 2);
}

}  // namespace tk::test
