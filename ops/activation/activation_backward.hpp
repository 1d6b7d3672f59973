// SPDX-License-Identifier: MIT
// activation_backward: da = dy b act'(a), db = dy act(a), element by element.
// Shapes    a, b, dy, da, db[outer, middle, rows, width]; b, da or db may be absent. Where a and b
//           lie side by side (ops/activation/activation.hpp), so do da and db.
// Numerics  fp32, core/activation.hpp's; da and db are rounded once.
// Order     elements depend on nothing but themselves.
#pragma once
#include "ops/activation/activation.hpp"

namespace tk {

template <class T> struct activation_backward {
  static constexpr int inputs = 3, outputs = 2, vectors = 0, held = 2;
  static constexpr row_input<0> a{};
  static constexpr row_input<1> b{};
  static constexpr row_input<2> dy{};
  static constexpr row_output<0> da{};
  static constexpr row_output<1> db{};
  template <int> using input = T;
  template <int> using output = T;

  struct args {
    activation_kind kind;
    int gated;  // b is there; a flag, but a word
  };
  static int passes(args const&) { return 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& x) {
    with_activation(x.kind, [&](auto act, auto slope) {
      if (x.gated)
        rows.each([&](auto const& p) {
          p.write(db, p(dy) * map(act, p(a)));
          p.write(da, p(dy) * p(b) * map(slope, p(a)));
        });
      else rows.each([&](auto const& p) { p.write(da, p(dy) * map(slope, p(a))); });
    });
  }
};

template <class T, class Act, class Slope> struct gradient_of_pair {
  TK_DEVICE float operator()(float pair, float dy) const {
    float const a = first_of<T>(pair), da = dy * second_of<T>(pair) * Slope{}(a),
                db = dy * Act{}(a);
    return std::bit_cast<float>(be::pack(T{}, da, db));
  }
};

template <class T> struct activation_backward_of_pairs {
  static constexpr int inputs = 2, outputs = 1, vectors = 0, held = 2;
  static constexpr row_input<0> pairs_of_a_and_b{};
  static constexpr row_input<1> dy{};
  static constexpr row_output<0> pairs_of_da_and_db{};
  template <int I> using input = std::conditional_t<I == 0, float, T>;
  template <int> using output = float;

  struct args {
    activation_kind kind;
  };
  static int passes(args const&) { return 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& x) {
    with_activation(x.kind, [&](auto act, auto slope) {
      using gradient = gradient_of_pair<T, decltype(act), decltype(slope)>;
      rows.each([&](auto const& p) {
        p.write(pairs_of_da_and_db, combine<gradient>(p(pairs_of_a_and_b), p(dy)));
      });
    });
  }
};

}  // namespace tk
