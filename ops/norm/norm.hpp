// SPDX-License-Identifier: MIT
// norm: r = x + residual;  layer: y = (r - mean) / sqrt(var + eps) w + b;  rms: y = r / sqrt(mean
// r^2 + eps) w + b, over each row.
// Shapes    x, residual, y, r[rows, width]; w, b[width] or absent; any sizes, any row stride.
// Numerics  mean and variance (biased) are of the fp32 sum r, before it is rounded to its type, and
//           so is y. The variance is of differences from the mean: a large mean does not hurt it.
//           That of equal numbers is exact where their sum is, and their differences are 0.
// Order     core/row_kernel.hpp's.
#pragma once
#include "core/row_kernel.hpp"

namespace tk {

template <class T> struct norm {
  static constexpr int inputs = 2, outputs = 2, vectors = 2, held = 1;
  static constexpr row_input<0> x{};
  static constexpr row_input<1> residual{};
  static constexpr row_output<0> y{};
  static constexpr row_output<1> r{};
  static constexpr row_vector<0> weight{};
  static constexpr row_vector<1> bias{};
  static constexpr row_extras extras{.inputs = 1, .outputs = 1, .vectors = 1, .sums = 0};
  static TK_BOTH constexpr float vector_default(int i) { return i == 0 ? 1.f : 0.f; }
  template <int> using input = T;
  template <int> using output = T;

  struct args {
    int layer;                       // a flag, but a word
    float eps, columns, per_column;  // columns: the width; per_column: 1 / columns
  };
  static int passes(args const& a) { return a.layer ? 3 : 2; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    using column = typename Rows::column;
    auto const sum = rows.keep([](auto const& p) { return p(x) + p(residual); });
    auto const normalise = [&](auto deviation) {
      auto const squares = rows.sum([&](auto const& p) { return square(deviation(p)); });
      column const scale = rsqrt(squares * a.per_column + a.eps);
      rows.each([&](auto const& p) {
        p.write(r, p(sum));
        p.write(y, deviation(p) * scale * p(weight) + p(bias));
      });
    };
    if (a.layer) {
      auto const all = rows.sum([&](auto const& p) { return p(sum); });
      column const mean = quotient(all, a.columns, a.per_column);
      normalise([&](auto const& p) { return p(sum) - mean; });
    } else {
      normalise([&](auto const& p) { return p(sum); });
    }
  }
};

}  // namespace tk
