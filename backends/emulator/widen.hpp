// SPDX-License-Identifier: MIT
// Packed floats as fp32, without branches where they are of 16 bits: emulated products widen every
// operand. And what instructions do with two fp16 at a time.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/element.hpp"

namespace tk::emulator {

inline float widen_bf16(std::uint16_t x) { return std::bit_cast<float>(std::uint32_t{x} << 16); }
// Scales by 2^112, which takes subnormals along; infinities and NaN keep the full exponent.
inline float widen_fp16(std::uint16_t x) {
  std::uint32_t const low = (x & 0x7fffu) << 13, sign = (x & 0x8000u) << 16;
  float const scaled = std::bit_cast<float>(low) * std::bit_cast<float>(0x77800000u);
  std::uint32_t const bits =
      std::bit_cast<std::uint32_t>(scaled) | (low >= 0x0f800000u ? 0x7f800000u : 0);
  return std::bit_cast<float>(bits | sign);
}
// The e-th element of type T in a word, from the lowest bits on.
template <class T> float widen_element(std::uint32_t x, int e) {
  auto const bits = static_cast<decltype(T::bits)>(x >> e * 8 * static_cast<int>(sizeof(T)));
  if constexpr (std::is_same_v<T, bf16>) return widen_bf16(bits);
  else if constexpr (std::is_same_v<T, fp16>) return widen_fp16(bits);
  else return tk::widen(T{bits});
}

template <class T> std::uint32_t multiply_pairs(std::uint32_t a, std::uint32_t b) {
  auto const product = [&](int e) {
    return std::uint32_t{round_to<T>(widen_element<T>(a, e) * widen_element<T>(b, e)).bits};
  };
  return product(1) << 16 | product(0);
}
inline std::uint32_t multiply_fp16x2(std::uint32_t a, std::uint32_t b) {
  return multiply_pairs<fp16>(a, b);
}
inline std::uint32_t multiply_bf16x2(std::uint32_t a, std::uint32_t b) {
  return multiply_pairs<bf16>(a, b);
}
template <class T> std::uint32_t max_magnitudes(std::uint32_t a, std::uint32_t b) {
  auto const larger = [&](int e) {
    auto const magnitude = [e](std::uint32_t x) { return std::fabs(widen_element<T>(x, e)); };
    return std::uint32_t{round_to<T>(std::fmax(magnitude(a), magnitude(b))).bits};
  };
  return larger(1) << 16 | larger(0);
}
// Sums of a product and a number are exact in 64 bits.
inline std::uint32_t fma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  auto const sum = [&](int e) {
    auto const half = [e](std::uint32_t x) { return double{widen_element<fp16>(x, e)}; };
    return std::uint32_t{round_to<fp16>(static_cast<float>(half(a) * half(b) + half(c))).bits};
  };
  return sum(1) << 16 | sum(0);
}

}  // namespace tk::emulator
