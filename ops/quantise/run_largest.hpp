// SPDX-License-Identifier: MIT
// The launch of what finds the largest of scales; largest_scale_run<float> is instantiated once.
#pragma once
#include "ops/quantise/problem.hpp"
#include "ops/quantise/quantise.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T> struct largest_scale_run {
  static void launch(quantise_rows const& x, void* workspace, void* stream);
};

template <class T>
void largest_scale_run<T>::launch(quantise_rows const& x, void* workspace, void* stream) {
  row_problem<largest_scale<T>> rows{{0}, {x.x}, {row_tensor_view{}}};
  rows.values[0] = x.scale;
  launch_rows(rows, workspace, stream);
}

}  // namespace tk
