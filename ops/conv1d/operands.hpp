// SPDX-License-Identifier: MIT
// From checked operands to those of a kernel.
#pragma once
#include "ops/conv1d/problem.hpp"
#include "ops/conv1d/walks.hpp"

namespace tk {

template <class T> token_rows<T> token_rows_of(row_tensor_view const& x) {
  tensor<T> const of{static_cast<T*>(x.data), x.rows, x.width, x.row_stride, x.outer,
                     x.outer_stride,          1,      0};
  return {of, vector_width_of(of)};
}
template <class W> conv1d_weights<W> weights_of(conv1d_operands const& x) {
  auto const typed = [](any_tensor const& t) { return static_cast<W const*>(t.data); };
  auto const width = [](W const* p) { return vector_width_of(tensor<W const>{p, 1, 1, 0}); };
  auto const *const weight = typed(x.weight), *const bias = typed(x.bias);
  return {weight, bias, width(weight), width(bias)};
}
inline token_runs runs_of(conv1d_operands const& x, conv1d_plan const& plan) {
  int const sequences = static_cast<int>(x.sequences), n = static_cast<int>(x.x.rows);
  return {{x.is_packed ? x.starts : nullptr, sequences, n, n}, sequences, n, plan.length};
}

// body(constant) for the number of taps.
template <class Body> void with_taps(int taps, Body body) {
  if (taps == 2) body(std::integral_constant<int, 2>{});
  else if (taps == 3) body(std::integral_constant<int, 3>{});
  else body(std::integral_constant<int, 4>{});
}

}  // namespace tk
