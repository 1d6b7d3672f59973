// SPDX-License-Identifier: MIT
// softmax_backward: dbias = y (dy - sum_j y_j dy_j), dx = scale dbias over each row.
// Shapes    y, dy, dx, dbias[outer, middle, rows, width]; dx or dbias may be absent.
// Numerics  fp32; dx and dbias are rounded once.
// Order     core/row_kernel.hpp's.
#pragma once
#include "ops/softmax/softmax.hpp"

namespace tk {

template <class T> struct softmax_backward {
  static constexpr int inputs = 2, outputs = 2, vectors = 0, held = 2;
  static constexpr row_input<0> y{};
  static constexpr row_input<1> dy{};
  static constexpr row_output<0> dx{};
  static constexpr row_output<1> dbias{};
  template <int> using input = T;
  template <int> using output = T;

  struct args {
    float scale;
    seen_columns seen;
  };
  static int passes(args const&) { return 2; }
  static TK_BOTH seen_columns const& ends(args const& a) { return a.seen; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    auto const sum = rows.sum([](auto const& p) { return p(y) * p(dy); });
    rows.each([&](auto const& p) {
      p.write(dbias, p.inside(p(y) * (p(dy) - sum)));
      p.write(dx, p.inside(p(y) * (p(dy) - sum) * a.scale));
    });
  }
};

}  // namespace tk
