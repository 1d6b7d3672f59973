// SPDX-License-Identifier: MIT
// cross_entropy_backward: dx of ops/cross_entropy/cross_entropy.hpp from x, labels, lse and dloss.
// Shapes    x, dx[outer, middle, rows, vocab]; labels, lse, dloss[outer, middle, rows].
// Numerics  as there.
#pragma once
#include "ops/cross_entropy/cross_entropy.hpp"

namespace tk {

template <class T, bool Capped> struct cross_entropy_backward {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, values = 3, held = 1;
  static constexpr bool once = true;
  static constexpr row_input<0> x{};
  static constexpr row_output<0> dx{};
  static constexpr row_value<0> labels{};
  static constexpr row_value<1> lse{};
  static constexpr row_value<2> dloss{};
  template <int> using input = T;
  template <int> using output = T;

  struct args {
    cross_entropy_numbers of;
  };
  static int passes(args const&) { return 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    using column = typename Rows::column;
    row_labels<Rows> const label(rows, labels, a.of);
    column const lse_log2 =
        rows.template value<float>(lse, [](float of_row) { return of_row * log2_e; });
    column const weight = rows.template value<float>(dloss, [](float of_row) { return of_row; });
    row_gradient<Rows> const gradient(label, lse_log2, weight, a.of);
    auto const s = rows.keep(scores_of<Capped>(x, a.of));
    auto const probabilities = [&](auto const& p) { return exp2(p(s) * log2_e - lse_log2); };
    rows.each(
        [&](auto const& p) { gradient.template write<Capped>(p, dx, s, probabilities, a.of); });
  }
};

}  // namespace tk
