// SPDX-License-Identifier: MIT
// From a checked problem to a launch of norm_backward. norm_backward_run<T> is instantiated once
// for each row of ops/norm/norm_backward.cmake; ops/norm/norm_backward.cpp chooses among them.
#pragma once
#include "ops/norm/norm_backward.hpp"
#include "ops/norm/problem.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T> struct norm_backward_run {
  static void launch(norm_backward_problem const& x, void* workspace, void* stream);
};

template <class T>
void norm_backward_run<T>::launch(norm_backward_problem const& x, void* workspace, void* stream) {
  auto const width = static_cast<float>(x.r.width);
  launch_rows<norm_backward<T>>({{x.kind == norm_kind::layer, x.eps, width, 1.f / width},
                                 {x.r, x.dy, x.dr},
                                 {x.dx},
                                 {x.weight},
                                 {x.dweight, x.dbias}},
                                workspace, stream);
}

}  // namespace tk
