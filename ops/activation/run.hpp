// SPDX-License-Identifier: MIT
// From a checked problem to a launch of activation. activation_run<T> is instantiated once for each
// row of ops/activation/activation.cmake; ops/activation/activation.cpp chooses among them.
#pragma once
#include "ops/activation/activation.hpp"
#include "ops/activation/problem.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T> struct activation_run {
  static void launch(activation_problem const& x, void* workspace, void* stream);
};

template <class T>
void activation_run<T>::launch(activation_problem const& x, void* workspace, void* stream) {
  launch_rows<activation<T>>({{x.kind, x.b.data != nullptr}, {x.a, x.b}, {x.y}}, workspace, stream);
}

}  // namespace tk
