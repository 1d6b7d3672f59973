// SPDX-License-Identifier: MIT
// In what units sums of products of spectra are kept. Of numbers from 2^-60 to 2^60 a product of
// two spectra may be from 2^-120 to above 2^140: more than fp32 holds, and than scale_to() scales,
// also where what the sum is transformed back to is less than that.
#pragma once
#include "ops/fft_conv/windows.hpp"

namespace tk {

// The units, 2^exponent, are those of the product so far whose scales are smallest. A product is
// that of numbers which were multiplied by a.by and b.by.
struct scaled_sum {
  int exponent = -200;  // scale_to() scales by 2^100 at most
  float bound = 0;      // of the sum's magnitudes, in units

  // Adds the bound of a product. The sum so far has to be multiplied by what this gives.
  TK_DEVICE float add(window_scale const& a, window_scale const& b) {
    float const term = a.by * a.sum * (b.by * b.sum);
    if (term == 0) return 1;  // scales of zeros say nothing
    int const own = exponent_of_product(a, b);
    float less = 1;
    if (own > exponent) {
      less = power_of_two(exponent - own);
      exponent = own;
    }
    bound = bound * less + power_of_two(own - exponent) * term;
    return less;
  }
  // What such a product is multiplied by in the sum.
  TK_DEVICE float factor(window_scale const& a, window_scale const& b) const {
    int const own = exponent_of_product(a, b);
    return power_of_two(own < exponent ? own - exponent : 0);  // above it are zeros
  }

 private:
  static TK_DEVICE int exponent_of_product(window_scale const& a, window_scale const& b) {
    return -exponent_of(a.by) - exponent_of(b.by);
  }
};

}  // namespace tk
