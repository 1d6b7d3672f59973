// SPDX-License-Identifier: MIT
// norm_backward: with g = dy weight, h = (r - mean) scale, scale = 1 / sqrt(var + eps)
//           dx = dr + scale (g - mean g - h mean(g h))     (rms: without mean and mean g)
//           dweight = sum over rows of dy h, dbias = sum over rows of dy
// Shapes    r, dy, dr, dx[rows, width]; weight, dweight, dbias[width]; dr, weight, dweight and
// dbias
//           may be absent.
// Numerics  fp32; statistics as norm's, of r as it was stored. dx, dweight and dbias are rounded
//           once.
// Order     core/row_kernel.hpp's.
#pragma once
#include "core/row_kernel.hpp"

namespace tk {

template <class T> struct norm_backward {
  static constexpr int inputs = 3, outputs = 1, vectors = 1, sums = 2, held = 2;
  static constexpr row_input<0> r{};
  static constexpr row_input<1> dy{};
  static constexpr row_input<2> dr{};
  static constexpr row_output<0> dx{};
  static constexpr row_vector<0> weight{};
  static constexpr column_sum<0> dweight{};
  static constexpr column_sum<1> dbias{};
  static constexpr row_extras extras{.inputs = 2, .outputs = 1, .vectors = 1, .sums = 1};
  static TK_BOTH constexpr float vector_default(int) { return 1; }
  template <int> using input = T;
  template <int> using output = T;

  struct args {
    int layer;                       // a flag, but a word
    float eps, columns, per_column;  // columns: the width; per_column: 1 / columns
  };
  static int passes(args const& a) { return a.layer ? 3 : 2; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    using column = typename Rows::column;
    auto const propagate = [&](auto deviation, auto mean_g) {
      auto const [squares, products] =
          rows.sum_both([&](auto const& p) { return square(deviation(p)); },
                        [&](auto const& p) { return p(dy) * p(weight) * deviation(p); });
      column const scale = rsqrt(squares * a.per_column + a.eps);
      column const mean_gh = products * scale * a.per_column;
      rows.each([&](auto const& p) {
        p.add(dweight, p(dy) * (deviation(p) * scale));
        p.add(dbias, p(dy));
        p.write(dx, p(dr) + (p(dy) * p(weight) - mean_g - deviation(p) * scale * mean_gh) * scale);
      });
    };
    if (a.layer) {
      auto const sums = rows.sum_both([](auto const& p) { return p(r); },
                                      [](auto const& p) { return p(dy) * p(weight); });
      column const mean = quotient(sums.first, a.columns, a.per_column);
      column const mean_g = quotient(sums.second, a.columns, a.per_column);
      propagate([&](auto const& p) { return p(r) - mean; }, mean_g);
    } else {
      propagate([](auto const& p) { return p(r); }, absent{});
    }
  }
};

}  // namespace tk
