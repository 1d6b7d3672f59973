// SPDX-License-Identifier: MIT
// 16-bit floats as fp32, without branches: emulated products widen every operand.
#pragma once
#include <bit>
#include <cstdint>

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

}  // namespace tk::emulator
