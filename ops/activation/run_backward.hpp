// SPDX-License-Identifier: MIT
// From a checked problem to a launch of activation_backward. activation_backward_run<T> is
// instantiated once for each row of ops/activation/activation_backward.cmake;
// ops/activation/activation_backward.cpp chooses among them.
#pragma once
#include "ops/activation/activation_backward.hpp"
#include "ops/activation/run.hpp"

namespace tk {

template <class T> struct activation_backward_run {
  static void launch(activation_backward_problem const& x, void* workspace, void* stream);
};

template <class T>
void activation_backward_run<T>::launch(activation_backward_problem const& x, void* workspace,
                                        void* stream) {
  if constexpr (sizeof(T) == 2) {
    if (x.interleaved)
      return launch_elements<activation_backward_of_pairs<T>>(
          {{x.kind}, {rows_of_pairs(x.a), x.dy}, {rows_of_pairs(x.da)}}, workspace, stream);
  }
  launch_elements<activation_backward<T>>(
      {{x.kind, x.b.data != nullptr}, {x.a, x.b, x.dy}, {x.da, x.db}}, workspace, stream);
}

}  // namespace tk
