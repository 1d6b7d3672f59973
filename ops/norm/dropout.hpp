// SPDX-License-Identifier: MIT
// What kernels of norm and of its backward are given, and how they drop elements of x.
#pragma once
#include "core/random.hpp"
#include "core/row_operand.hpp"
#include "ops/norm/problem.hpp"

namespace tk {

struct norm_args {
  int layer;                       // a flag, but a word
  float eps, columns, per_column;  // columns: the width; per_column: 1 / columns
};

// below: of 256 bytes, those that drop an element; 0: none do. inverse: what others are multiplied
// by.
struct norm_dropout_args : norm_args {
  std::uint64_t seed, offset;
  std::uint64_t const* random_state;
  unsigned below;
  float inverse;
};
TK_DEVICE random_plane plane_of(norm_dropout_args const& a) {
  return random_plane_of(a.below ? a.random_state : nullptr, a.seed, a.offset, random_rows);
}
template <bool Drops> using norm_args_of = std::conditional_t<Drops, norm_dropout_args, norm_args>;

template <bool Drops, class Problem> norm_args_of<Drops> args_of(Problem const& x, float width) {
  norm_args const plain{x.kind == norm_kind::layer, x.eps, width, 1.f / width};
  if constexpr (Drops) {
    auto const& d = x.dropout;
    return {plain,
            d.seed,
            d.offset,
            d.random_state,
            static_cast<unsigned>(d.below),
            kept_inverse(d.below)};
  } else {
    return plain;
  }
}

// What is there in kernels that drop nothing, and may be lean.
template <bool Drops, int Inputs, int Sums> struct norm_extras {
  static constexpr row_extras extras{.inputs = Inputs, .outputs = 1, .vectors = 1, .sums = Sums};
};
template <int Inputs, int Sums> struct norm_extras<true, Inputs, Sums> {};

}  // namespace tk
