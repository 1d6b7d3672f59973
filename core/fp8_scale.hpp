// SPDX-License-Identifier: MIT
// What ops say that write fp8 with a scale for each row, in fp32, each operation rounded to nearest
// even, so that bits are the same on every chip:
//   counted_magnitude, a functor        |x| for a maximum with a number, for which NaN does not
//                                       count
//   fp8_scale<F>(most, power_of_two)    max(most, 2^-80) / the largest number of F, of each row; up
//                                       to a power of two where wanted; infinity of infinity
// 2^-80 keeps scales and their inverses normal, and numbers below 2^-126 far below the least of
// fp8, so that chips may flush them. Quotients are right in every bit: Markstein, "Computation of
// elementary functions on the IBM RISC System/6000 processor", 1990, and tried out for all x.
#pragma once
#include "core/reduce.hpp"

namespace tk {

struct counted_magnitude {
  TK_DEVICE float operator()(float x) const { return be::counted_magnitude(x); }
};

// The least power of two that is not below a positive number.
struct up_to_power_of_two {
  TK_DEVICE float operator()(float x) const {
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x7fffff) & 0xff800000);
  }
};

template <class F, int R>
TK_DEVICE reg_col<float, R> fp8_scale(reg_col<float, R> const& most, bool power_of_two) {
  constexpr float least = 0x1p-80f, largest = largest_of<F>, per_largest = 1.f / largest;
  auto const least_or_more = max(most, least);
  // The remainder of infinity would be NaN.
  auto const scale =
      where_equal(least_or_more, inf, inf, quotient(least_or_more, largest, per_largest));
  return power_of_two ? map<up_to_power_of_two>(scale) : scale;
}

}  // namespace tk
