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
// (re, im) times (by_re, by_im): of each sum one product is rounded, the other is not.
inline void multiply_complex_fp16x2(std::uint32_t& re, std::uint32_t& im, std::uint32_t by_re,
                                    std::uint32_t by_im) {
  std::uint32_t sums[2] = {};
  for (int e = 0; e < 2; ++e) {
    auto const half = [e](std::uint32_t x) { return widen_element<fp16>(x, e); };
    auto const rounded = [](double x) { return round_to<fp16>(static_cast<float>(x)); };
    double const a = widen_fp16(rounded(half(im) * half(by_im)).bits),
                 b = widen_fp16(rounded(half(im) * half(by_re)).bits);
    sums[0] |= std::uint32_t{rounded(double{half(re)} * half(by_re) - a).bits} << 16 * e;
    sums[1] |= std::uint32_t{rounded(double{half(re)} * half(by_im) + b).bits} << 16 * e;
  }
  re = sums[0], im = sums[1];
}

}  // namespace tk::emulator
