// SPDX-License-Identifier: MIT
// From a checked problem to a launch of activation_backward. activation_backward_run<T> is
// instantiated once for each row of ops/activation/activation_backward.cmake;
// ops/activation/activation_backward.cpp chooses among them.
#pragma once
#include "ops/activation/activation_backward.hpp"
#include "ops/activation/problem.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T> struct activation_backward_run {
  static void launch(activation_backward_problem const& x, void* workspace, void* stream);
};

template <class T>
void activation_backward_run<T>::launch(activation_backward_problem const& x, void* workspace,
                                        void* stream) {
  launch_rows<activation_backward<T>>(
      {{x.kind, x.b.data != nullptr}, {x.a, x.b, x.dy}, {x.da, x.db}}, workspace, stream);
}

}  // namespace tk
