// SPDX-License-Identifier: MIT
// From a checked problem to launches of quantise. quantise_run<T, F> is instantiated once for each
// row of ops/quantise/quantise.cmake, and largest_scale_run for all of them;
// ops/quantise/quantise.cpp chooses among them.
#pragma once
#include "ops/quantise/blocks.hpp"
#include "ops/quantise/quantise.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T, class F> struct quantise_run {
  static void launch(quantise_problem const& x, void* workspace, void* stream);
};
// Of fp32 numbers, which are x.
template <class T> struct largest_scale_run {
  static void launch(quantise_rows const& x, void* workspace, void* stream);
};

template <class T, class F>
void quantise_run<T, F>::launch(quantise_problem const& p, void* workspace, void* stream) {
  auto const over_x = [&](quantise_rows const& x) {
    row_problem<quantise<T, F>> rows{{x.given, p.power_of_two, x.y.data != nullptr}, {x.x}, {x.y}};
    rows.values[0] = x.scale;
    launch_rows(rows, workspace, stream);
  };
  auto const over_scales = [&](quantise_rows const& x) {
    largest_scale_run<float>::launch(x, workspace, stream);
  };
  quantise_launches(p, workspace, over_x, over_scales).make();
}

}  // namespace tk
