// SPDX-License-Identifier: MIT
// From a checked problem to a launch of softmax_backward. softmax_backward_run<T> is instantiated
// once for each row of ops/softmax/softmax_backward.cmake; ops/softmax/softmax_backward.cpp chooses
// among them.
#pragma once
#include "ops/softmax/run.hpp"
#include "ops/softmax/softmax_backward.hpp"

namespace tk {

template <class T> struct softmax_backward_run {
  static void launch(softmax_backward_problem const& x, void* workspace, void* stream);
};

template <class T>
void softmax_backward_run<T>::launch(softmax_backward_problem const& x, void* workspace,
                                     void* stream) {
  launch_rows<softmax_backward<T>>(
      {{x.scale, columns_seen(x.mask, x.y)}, {x.y, x.dy}, {x.dx, x.dbias}}, workspace, stream);
}

}  // namespace tk
