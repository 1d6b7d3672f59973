// SPDX-License-Identifier: MIT
// From a checked problem to a launch of activation. activation_run<T> is instantiated once for each
// row of ops/activation/activation.cmake; ops/activation/activation.cpp chooses among them.
#pragma once
#include "ops/activation/activation.hpp"
#include "ops/activation/problem.hpp"
#include "ops/element_launch.hpp"

namespace tk {

template <class T> struct activation_run {
  static void launch(activation_problem const& x, void* workspace, void* stream);
};

// Rows of pairs of 16-bit numbers as such of elements of 32 bits.
inline row_tensor_view rows_of_pairs(row_tensor_view x) {
  x.type = element::fp32;
  for (auto* size : {&x.width, &x.outer_stride, &x.middle_stride, &x.row_stride}) *size /= 2;
  return x;
}

template <class T>
void activation_run<T>::launch(activation_problem const& x, void* workspace, void* stream) {
  if constexpr (sizeof(T) == 2) {
    if (x.interleaved)
      return launch_elements<activation_of_pairs<T>>({{x.kind}, {rows_of_pairs(x.a)}, {x.y}},
                                                     workspace, stream);
  }
  launch_elements<activation<T>>({{x.kind, x.b.data != nullptr}, {x.a, x.b}, {x.y}}, workspace,
                                 stream);
}

}  // namespace tk
