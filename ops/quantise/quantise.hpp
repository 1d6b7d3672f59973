// SPDX-License-Identifier: MIT
// quantise: of each row
//           scale = max(largest |x|, 2^-80) / largest fp8, perhaps up to a power of two
//           y = fp8(x (1 / scale))
// Shapes    x, y[outer, middle, rows, width], scale[outer, middle, rows]; other blocks are rows of
//           views of x (ops/quantise/blocks.hpp).
// Numerics  fp32, each operation rounded to nearest even; a maximum is exact in any order, so bits
//           follow from x alone. 2^-80 keeps scales and their inverses normal, and numbers below
//           2^-126 far below the least of fp8, so that chips may flush them.
// Source    Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
//           1990: a quotient by a number whose rounded inverse is known.
#pragma once
#include "core/row_kernel.hpp"

namespace tk {

// Chips differ in what a maximum of NaN and a number is.
struct magnitude_or_0 {
  TK_DEVICE float operator()(float x) const { return be::max(be::max(x, -x), 0.f); }
};
// The least power of two that is not below a positive number.
struct up_to_power_of_two {
  TK_DEVICE float operator()(float x) const {
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x7fffff) & 0xff800000);
  }
};
// What rounding would make infinite where F has infinities becomes the largest number; NaN stays.
template <class F> struct saturated {
  TK_DEVICE float operator()(float x) const {
    constexpr float most = format_of<F>::widen(format_of<F>::largest);
    if constexpr (format_of<F>::largest == format_of<F>::nan - 1) return x;  // rounding does it
    else return x > most ? most : x < -most ? -most : x;
  }
};

template <class T, class F> struct quantise {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, held = 1, values = 1;
  static constexpr row_input<0> x{};
  static constexpr row_output<0> y{};
  static constexpr row_value<0> scale{};
  template <int> using input = T;
  template <int> using output = F;

  struct args {
    float largest, per_largest;
    int given, power_of_two, writes;  // flags, but words
  };
  static int passes(args const& a) { return (a.given ? 0 : 1) + (a.writes ? 1 : 0); }

  template <class Rows>
  static TK_DEVICE typename Rows::column find_scale(Rows& rows, args const& a) {
    constexpr float least = 0x1p-80f;
    auto const most = max(rows.max([](auto const& p) { return map<magnitude_or_0>(p(x)); }), least);
    // The remainder of infinity would be NaN.
    auto const found = where_equal(most, inf, inf, quotient(most, a.largest, a.per_largest));
    return a.power_of_two ? map<up_to_power_of_two>(found) : found;
  }
  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    typename Rows::column of_rows;
    if (a.given) {
      of_rows = rows.template value<float>(scale, [](float s) { return s; });
    } else {
      of_rows = find_scale(rows, a);
      rows.put(scale, of_rows);
    }
    if (!a.writes) return;
    auto const inverse = 1.f / of_rows;
    rows.each([&](auto const& p) { p.write(y, map<saturated<F>>(p(x) * inverse)); });
  }
};

// Of scales the largest in each row.
template <class T> struct largest_scale {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, held = 1, values = 1;
  template <int> using input = T;
  template <int> using output = T;  // which is never there
  struct args {
    int unused;
  };
  static int passes(args const&) { return 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const&) {
    rows.put(row_value<0>{}, rows.max([](auto const& p) { return p(row_input<0>{}); }));
  }
};

}  // namespace tk
