// SPDX-License-Identifier: MIT
// From a checked problem to launches of add. add_run<A, Y> is instantiated once for each row of
// ops/add/add.cmake; ops/add/add.cpp chooses among them.
#pragma once
#include "ops/add/add.hpp"
#include "ops/add/problem.hpp"
#include "ops/element_launch.hpp"

namespace tk {

template <class A, class Y> struct add_run {
  static void launch(add_problem const& x, void* workspace, void* stream);
};

template <class A, class Y>
void add_run<A, Y>::launch(add_problem const& x, void* workspace, void* stream) {
  launch_elements<scaled_sum<A, Y>>({{x.alpha, x.b.data ? -x.beta : 0.f}, {x.a, x.b}, {x.y}},
                                    workspace, stream);
}

}  // namespace tk
