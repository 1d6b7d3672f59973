// SPDX-License-Identifier: MIT
// From a checked problem to a launch of norm. norm_run<T> is instantiated once for each row of
// ops/norm/norm.cmake; ops/norm/norm.cpp chooses among them.
#pragma once
#include "ops/norm/norm.hpp"
#include "ops/norm/problem.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T> struct norm_run {
  static void launch(norm_problem const& x, void* workspace, void* stream);
};

template <class T> void norm_run<T>::launch(norm_problem const& x, void* workspace, void* stream) {
  auto const width = static_cast<float>(x.x.width);
  launch_rows<norm<T>>({{x.kind == norm_kind::layer, x.eps, width, 1.f / width},
                        {x.x, x.residual},
                        {x.y, x.r},
                        {x.weight, x.bias}},
                       workspace, stream);
}

}  // namespace tk
