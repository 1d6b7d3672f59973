// SPDX-License-Identifier: MIT
// y = x, and 0 in rows whose label is ignored, whatever they hold: sums over rows and results of
// rows know nothing of their NaN then.
// Shapes    x, y[rows, d], which may be one; labels[rows].
// Numerics  nothing is rounded.
#pragma once
#include "core/row_kernel.hpp"
#include "ops/linear_cross_entropy/parts.hpp"
#include "ops/row_launch.hpp"

namespace tk {

struct zero_where_ignored {
  TK_DEVICE float operator()(float x, float ignored) const { return ignored != 0.f ? 0.f : x; }
};

template <class T> struct ignored_rows {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, values = 1, held = 1;
  static constexpr bool once = true;
  template <int> using input = T;
  template <int> using output = T;
  struct args {
    std::int64_t label;
    int wide;  // whether labels are of 64 bits; a flag, but a word
  };
  static int passes(args const&) { return 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    using column = typename Rows::column;
    constexpr row_value<0> labels{};
    auto const is_ignored = [&](std::int64_t label) { return label == a.label ? 1.f : 0.f; };
    column const ignored = a.wide ? rows.template value<std::int64_t>(labels, is_ignored)
                                  : rows.template value<std::int32_t>(labels, is_ignored);
    rows.each([&](auto const& p) {
      p.write(row_output<0>{}, combine<zero_where_ignored>(p(row_input<0>{}), ignored));
    });
  }
};

template <class T>
void ignored_rows_run<T>::launch(ignored_rows_problem const& x, void* workspace, void* stream) {
  row_problem<ignored_rows<T>> y{{x.label, x.labels.type == element::int64}, {x.x}, {x.y}};
  y.values[0] = x.labels;
  launch_rows(y, workspace, stream);
}

}  // namespace tk
