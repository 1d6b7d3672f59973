// SPDX-License-Identifier: MIT
// fp8 as fp16, two numbers at a time and exactly: how products take fp8 on chips whose instructions
// don't.
#pragma once
#include <type_traits>

#include "backends/backend.hpp"
#include "core/element.hpp"

namespace tk {

// Bytes 2 Pair and 2 Pair + 1 of x, numbers of type T.
template <int Pair, class T> TK_DEVICE std::uint32_t widen_pair(T, std::uint32_t x) {
  static_assert(Pair == 0 || Pair == 1);
  std::uint32_t const y =
      Pair == 0 ? (x & 0xff) << 8 | (x & 0xff00) << 16 : (x >> 8 & 0xff00) | (x & 0xff000000);
  if constexpr (std::is_same_v<T, fp8_e5m2>) {
    return y;  // fp16 but for the end of its fraction
  } else {
    // The exponent's bias is 8 below fp16's, that of subnormals as well; all ones are NaN.
    std::uint32_t const magnitude = y >> 1 & 0x3f803f80;
    std::uint32_t const nan = (magnitude + 0x00800080) & 0x40004000;
    return (y & 0x80008000) | be::multiply_fp16x2(magnitude, 0x5c005c00) |
           ((nan << 1) - (nan >> 4));
  }
}

}  // namespace tk
