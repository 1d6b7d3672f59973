// SPDX-License-Identifier: MIT
// From a checked problem to a launch of cross_entropy_backward. cross_entropy_backward_run<T> is
// instantiated once for each row of ops/cross_entropy/cross_entropy_backward.cmake;
// ops/cross_entropy/cross_entropy_backward.cpp chooses among them.
#pragma once
#include "ops/cross_entropy/cross_entropy_backward.hpp"
#include "ops/cross_entropy/run.hpp"

namespace tk {

template <class T> struct cross_entropy_backward_run {
  static void launch(cross_entropy_backward_problem const& x, void* workspace, void* stream);
};

template <class T>
void cross_entropy_backward_run<T>::launch(cross_entropy_backward_problem const& x, void* workspace,
                                           void* stream) {
  choose_cap(x.terms, [&](auto capped) {
    row_problem<cross_entropy_backward<T, capped>> y{
        {numbers_of(x.terms, x.x, x.labels)}, {x.x}, {x.dx}};
    y.values[0] = x.labels;
    y.values[1] = x.lse;
    y.values[2] = x.dloss;
    launch_rows(y, workspace, stream);
  });
}

}  // namespace tk
