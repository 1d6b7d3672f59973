// SPDX-License-Identifier: MIT
// softmax: y = softmax(scale x + bias) over each row.
// Shapes    x, bias, y[outer, middle, rows, width]; bias or absent; any sizes, any strides of rows.
// Numerics  fp32 scores s, in base 2; y = exp2(s - max s) / their sum, rounded once. A row is 0
//           that sees nothing, or only -inf.
// Order     core/row_kernel.hpp's.
#pragma once
#include "core/activation.hpp"
#include "core/row_kernel.hpp"

namespace tk {

// Which columns rows see. Row i of `rows`, those of a matrix of scores, sees columns up to
// i + width - rows; its number counts on through matrices that lie one after another.
struct seen_columns {
  int causal, rows, width;  // causal: a flag, but a word
  template <class Rows> TK_DEVICE void limit(Rows& of) const {
    if (causal) of.limit([&](int row) { return row % rows - rows + width + 1; });
  }
};

// Without a bias its type does not matter.
template <bool Same> struct softmax_extras {};
template <> struct softmax_extras<true> {
  static constexpr row_extras extras{.inputs = 1, .outputs = 1, .vectors = 0, .sums = 0};
};
// Of elements of type T, with a bias of type B.
template <class T, class B> struct softmax : softmax_extras<std::is_same_v<T, B>> {
  static constexpr int inputs = 2, outputs = 1, vectors = 0, held = 1;
  static constexpr row_input<0> x{};
  static constexpr row_input<1> bias{};
  static constexpr row_output<0> y{};
  template <int I> using input = std::conditional_t<I == 0, T, B>;
  template <int> using output = T;

  struct args {
    float scale_log2;  // scale log2(e)
    seen_columns seen;
  };
  static int passes(args const&) { return 2; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    a.seen.limit(rows);
    auto const s = rows.keep([&](auto const& p) { return p(x) * a.scale_log2 + p(bias) * log2_e; });
    auto const exps = rows.keep_exp2([&](auto const& p) { return p(s); });
    auto const inverse = where_equal(exps.sum, 0.f, 0.f, reciprocal(exps.sum));
    rows.each([&](auto const& p) { p.write(y, p.inside(p(exps.each) * inverse)); });
  }
};

}  // namespace tk
