// SPDX-License-Identifier: MIT
// activation: y = act(a) b, or act(a) where b is absent, element by element.
// Shapes    a, b, y[outer, middle, rows, width]; any sizes, any strides of rows. a and b of 16 bits
//           may lie side by side: then they are an input of width pairs, each an element of 32 bits
//           that is an fp32 by its type alone.
// Numerics  fp32, core/activation.hpp's; y is rounded once.
// Order     elements depend on nothing but themselves.
#pragma once
#include "core/activation.hpp"
#include "core/row_kernel.hpp"
#include "ops/tensors.hpp"

namespace tk {

// body(act, its slope), once, outside of all loops.
template <class Body> TK_DEVICE void with_activation(activation_kind kind, Body body) {
  switch (kind) {
    case activation_kind::none: return body(identity{}, identity_slope{});
    case activation_kind::relu: return body(relu{}, relu_slope{});
    case activation_kind::silu: return body(silu{}, silu_slope{});
    case activation_kind::gelu_tanh: return body(gelu_tanh{}, gelu_tanh_slope{});
    case activation_kind::gelu_erf: return body(gelu_erf{}, gelu_erf_slope{});
    case activation_kind::sigmoid: return body(sigmoid_of{}, sigmoid_slope{});
  }
}

template <class T> struct activation {
  static constexpr int inputs = 2, outputs = 1, vectors = 0, held = 1;
  static constexpr row_extras extras{.inputs = 1, .outputs = 1, .vectors = 0, .sums = 0};
  static constexpr row_input<0> a{};
  static constexpr row_input<1> b{};
  static constexpr row_output<0> y{};
  template <int> using input = T;
  template <int> using output = T;

  struct args {
    activation_kind kind;
    int gated;  // b is there; a flag, but a word
  };
  static int passes(args const&) { return 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& x) {
    with_activation(x.kind, [&](auto act, auto) {
      if constexpr (!Rows::lean)
        if (x.gated) return rows.each([&](auto const& p) { p.write(y, map(act, p(a)) * p(b)); });
      rows.each([&](auto const& p) { p.write(y, map(act, p(a))); });
    });
  }
};

// The numbers of a pair.
template <class T> TK_DEVICE float first_of(float pair) {
  return half_of<T>(std::bit_cast<std::uint32_t>(pair), 0);
}
template <class T> TK_DEVICE float second_of(float pair) {
  return half_of<T>(std::bit_cast<std::uint32_t>(pair), 1);
}
template <class T, class Act> struct gated_pair {
  TK_DEVICE float operator()(float pair) const {
    return Act{}(first_of<T>(pair)) * second_of<T>(pair);
  }
};

template <class T> struct activation_of_pairs {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, held = 1;
  static constexpr row_input<0> pairs_of_a_and_b{};
  static constexpr row_output<0> y{};
  template <int> using input = float;
  template <int> using output = T;

  struct args {
    activation_kind kind;
  };
  static int passes(args const&) { return 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& x) {
    with_activation(x.kind, [&](auto act, auto) {
      rows.each([&](auto const& p) {
        p.write(y, map(gated_pair<T, decltype(act)>{}, p(pairs_of_a_and_b)));
      });
    });
  }
};

}  // namespace tk
