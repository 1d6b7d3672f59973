// SPDX-License-Identifier: MIT
// From a checked problem to a launch of cross_entropy. cross_entropy_run<T> is instantiated once
// for each row of ops/cross_entropy/cross_entropy.cmake; ops/cross_entropy/cross_entropy.cpp
// chooses among them.
#pragma once
#include "ops/cross_entropy/cross_entropy.hpp"
#include "ops/cross_entropy/problem.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T> struct cross_entropy_run {
  static void launch(cross_entropy_problem const& x, void* workspace, void* stream);
};

inline cross_entropy_numbers numbers_of(cross_entropy_terms const& x, row_tensor_view const& logits,
                                        row_tensor_view const& labels) {
  cross_entropy_numbers y{};
  y.rest = 1.f - x.label_smoothing;
  y.share = x.label_smoothing / static_cast<float>(logits.width);
  y.z_loss = x.z_loss;
  y.cap = x.softcap;
  y.per_cap = x.softcap > 0 ? 1.f / x.softcap : 0.f;
  y.vocab = static_cast<int>(logits.width);
  y.ignores = x.has_ignore_index;
  y.wide = labels.type == element::int64;
  y.ignored = x.ignore_index;
  return y;
}

// body(capped), a compile-time constant: kernels without a cap hold nothing for its sake.
template <class Body> void choose_cap(cross_entropy_terms const& x, Body body) {
  if (x.softcap > 0) body(std::true_type{});
  else body(std::false_type{});
}

template <class T>
void cross_entropy_run<T>::launch(cross_entropy_problem const& x, void* workspace, void* stream) {
  choose_cap(x.terms, [&](auto capped) {
    row_problem<cross_entropy<T, capped>> y{
        {numbers_of(x.terms, x.x, x.labels), x.dloss_scale, x.dx.data != nullptr}, {x.x}, {x.dx}};
    y.values[0] = x.labels;
    y.values[1] = x.loss;
    y.values[2] = x.lse;
    y.may_be_lean = x.repeat == repeat_kind::run;
    launch_rows(y, workspace, stream);
  });
}

}  // namespace tk
