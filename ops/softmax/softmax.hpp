// SPDX-License-Identifier: MIT
// softmax: y = softmax(scale x + bias) over each row.
// Shapes    x, bias, bool_mask, y[outer, middle, rows, width]; bias or absent; any sizes, any
//           strides of rows.
// Numerics  fp32 scores s, in base 2; y = exp2(s - max s) / their sum, rounded once. A row is 0
//           that sees nothing, or only -inf. What bool_mask hides has the score -inf and is 0, and
//           nothing is computed of what lies there.
// Order     core/row_kernel.hpp's.
#pragma once
#include "core/activation.hpp"
#include "core/row_kernel.hpp"

namespace tk {

// Which columns rows see. Row i of `rows`, those of a matrix of scores, sees columns up to
// i + width - rows; its number counts on through matrices that lie one after another.
struct seen_columns {
  int causal, rows, width;  // causal: a flag, but a word
  divisor by_rows;
  TK_BOTH bool differ() const { return causal; }
  TK_BOTH int of(int row) const { return by_rows.of(row).rest - rows + width + 1; }
};

// f where a boolean is true, else -inf or 0.
struct score_where_true {
  TK_DEVICE float operator()(float seen, float f) const { return seen != 0.f ? f : -inf; }
};
struct weight_where_true {
  TK_DEVICE float operator()(float seen, float f) const { return seen != 0.f ? f : 0.f; }
};

// Without a bias, the last of so many inputs, its type does not matter.
template <bool Same, int Inputs> struct softmax_extras {};
template <int Inputs> struct softmax_extras<true, Inputs> {
  static constexpr row_extras extras{.inputs = Inputs - 1, .outputs = 1, .vectors = 0, .sums = 0};
};
// Of elements of type T, with a bias of type B; Masked: with bool_mask.
template <class T, class B, bool Masked>
struct softmax : softmax_extras<std::is_same_v<T, B>, Masked ? 3 : 2> {
  static constexpr int inputs = Masked ? 3 : 2, outputs = 1, vectors = 0, held = 1;
  static constexpr row_input<0> x{};
  static constexpr row_input<1> bool_mask{};
  static constexpr row_input<inputs - 1> bias{};
  static constexpr row_output<0> y{};
  template <int I>
  using input = std::conditional_t<I == 0, T, std::conditional_t<I == inputs - 1, B, boolean>>;
  template <int> using output = T;

  struct args {
    float scale_log2;  // scale log2(e)
    seen_columns seen;
  };
  static int passes(args const&) { return 2; }
  static TK_BOTH seen_columns const& ends(args const& a) { return a.seen; }

  // f of a part of the rows where the mask is true, else what Where says.
  template <class Where, class Part, class F>
  static TK_DEVICE auto where_seen(Part const& p, F const& f) {
    if constexpr (Masked) return combine<Where>(p(bool_mask), f);
    else return f;
  }
  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    auto const s = rows.keep([&](auto const& p) {
      return where_seen<score_where_true>(p, p(x) * a.scale_log2 + p(bias) * log2_e);
    });
    auto const exps = rows.keep_exp2([&](auto const& p) { return p(s); });
    auto const inverse = where_equal(exps.sum, 0.f, 0.f, reciprocal(exps.sum));
    rows.each([&](auto const& p) {
      p.write(y, p.inside(where_seen<weight_where_true>(p, p(exps.each) * inverse)));
    });
  }
};

}  // namespace tk
