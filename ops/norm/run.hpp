// SPDX-License-Identifier: MIT
// From a checked problem to a launch of norm. norm_run<...> is instantiated once for each row of
// ops/norm/norm.cmake; ops/norm/norm.cpp chooses among them.
#pragma once
#include "ops/norm/norm.hpp"
#include "ops/norm/problem.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T, class Stream = T, bool Drops = false> struct norm_run {
  static void launch(norm_problem const& x, void* workspace, void* stream);
};

template <class T, class Stream, bool Drops>
void norm_run<T, Stream, Drops>::launch(norm_problem const& x, void* workspace, void* stream) {
  launch_rows<norm<T, Stream, Drops>>({args_of<Drops>(x, static_cast<float>(x.x.width)),
                                       {x.x, x.residual},
                                       {x.y, x.r},
                                       {x.weight, x.bias}},
                                      workspace, stream);
}

}  // namespace tk
