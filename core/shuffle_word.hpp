// SPDX-License-Identifier: MIT
// A word of the lane whose number in its warp differs by the bits of `mask`. All lanes of the warp
// call it.
#pragma once
#include <bit>
#include <cstdint>

#include "backends/backend.hpp"

namespace tk {

TK_DEVICE std::uint32_t shuffle_word(std::uint32_t x, int mask) {
  return std::bit_cast<std::uint32_t>(be::shuffle_xor(std::bit_cast<float>(x), mask));
}

}  // namespace tk
