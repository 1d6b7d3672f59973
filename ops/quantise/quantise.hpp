// SPDX-License-Identifier: MIT
// quantise: of each row
//           scale = max(largest |x|, 2^-80) / largest fp8, perhaps up to a power of two
//           y = fp8(x (1 / scale))
// Shapes    x, y[outer, middle, rows, width], scale[outer, middle, rows]; blocks of other shapes
//           are rows of views of x (ops/quantise/blocks.hpp).
// Numerics  fp32, each operation rounded to nearest even (core/fp8_scale.hpp); a maximum is exact
//           in any order, so bits follow from x alone.
// Order     core/row_kernel.hpp's, which does not matter.
#pragma once
#include "core/fp8_scale.hpp"
#include "core/row_kernel.hpp"

namespace tk {

template <class T, class F> struct quantise {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, held = 1, values = 1;
  static constexpr row_input<0> x{};
  static constexpr row_output<0> y{};
  static constexpr row_value<0> scale{};
  template <int> using input = T;
  template <int> using output = F;

  struct args {
    int given, power_of_two, writes;  // flags, but words
  };
  static int passes(args const& a) { return (a.given ? 0 : 1) + (a.writes ? 1 : 0); }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    typename Rows::column of_rows;
    if (a.given) {
      of_rows = rows.template value<float>(scale, [](float s) { return s; });
    } else {
      of_rows = fp8_scale<F>(rows.max([](auto const& p) { return map<counted_magnitude>(p(x)); }),
                             a.power_of_two);
      rows.put(scale, of_rows);
    }
    if (!a.writes) return;
    auto const inverse = 1.f / of_rows;
    rows.each([&](auto const& p) { p.write(y, p(x) * inverse); });
  }
};

// Of scales the largest in each row.
template <class T> struct largest_scale {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, held = 1, values = 1;
  static constexpr bool once = true;
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
