// SPDX-License-Identifier: MIT
// add: y = alpha a + beta b, element by element; y = alpha a where b is absent.
// Shapes    a, b, y[outer, middle, rows, width]; any sizes, any strides of rows.
// Numerics  fp32: both products are rounded, then their sum; y is rounded once more. No chip fuses
//           them, so that all have the same bits, however rows lie. An absent b is read as 0, of
//           which the product by `minus_beta` = 0 takes nothing away: x - 0 is x, also for x = -0.
// Order     elements depend on nothing but themselves.
#pragma once
#include "core/row_kernel.hpp"

namespace tk {

template <class A, class Y> struct scaled_sum {
  static constexpr int inputs = 2, outputs = 1, vectors = 0;
  static constexpr int held = sizeof(Y) > sizeof(A) ? 2 : 1;  // what is written is twice as wide
  static constexpr row_extras extras{.inputs = 1, .outputs = 1, .vectors = 0, .sums = 0};
  static constexpr row_input<0> a{};
  static constexpr row_input<1> b{};
  static constexpr row_output<0> y{};
  template <int I> using input = std::conditional_t<I == 0, A, Y>;
  template <int> using output = Y;

  struct args {
    float alpha, minus_beta;
  };
  static int passes(args const&) { return 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& x) {
    rows.each(
        [&](auto const& p) { p.write(y, subtract_unfused(p(a) * x.alpha, p(b) * x.minus_beta)); });
  }
};

}  // namespace tk
