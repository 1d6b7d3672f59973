// SPDX-License-Identifier: MIT
// From a checked problem to a launch of norm_backward. norm_backward_run<...> is instantiated once
// for each row of ops/norm/norm_backward.cmake; ops/norm/norm_backward.cpp chooses among them.
#pragma once
#include "ops/norm/norm_backward.hpp"
#include "ops/norm/problem.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T, class Stream = T, bool Drops = false> struct norm_backward_run {
  static void launch(norm_backward_problem const& x, void* workspace, void* stream);
};

template <class T, class Stream, bool Drops>
void norm_backward_run<T, Stream, Drops>::launch(norm_backward_problem const& x, void* workspace,
                                                 void* stream) {
  using op = norm_backward<T, Stream, Drops>;
  row_problem<op> y{
      args_of<Drops>(x, static_cast<float>(x.r.width)), {}, {}, {x.weight}, {x.dweight, x.dbias}};
  y.in[op::at_r] = x.r;
  y.in[op::at_dy] = x.dy;
  y.in[2] = x.dr;
  y.out[0] = x.dx;
  if constexpr (Drops) y.out[1] = x.dresidual;
  launch_rows(y, workspace, stream);
}

}  // namespace tk
