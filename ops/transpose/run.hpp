// SPDX-License-Identifier: MIT
// From a checked problem to a launch of transpose. transpose_run<T> is instantiated once for each
// size of elements, rows of ops/transpose/transpose.cmake; ops/transpose/transpose.cpp chooses.
#pragma once
#include "ops/transpose/problem.hpp"
#include "ops/transpose/transpose.hpp"

namespace tk {

template <class T> struct transpose_run {
  static void launch(transpose_problem const& x, void* stream);
};

template <class T> tensor<T> matrices_of(row_tensor_view const& x) {
  return {static_cast<T*>(x.data), x.rows,   x.width,        x.row_stride, x.outer,
          x.outer_stride,          x.middle, x.middle_stride};
}

template <class T> void transpose_run<T>::launch(transpose_problem const& x, void* stream) {
  auto const from = matrices_of<T const>(x.x);
  auto const to = matrices_of<T>(x.y);
  auto const to_be_read = matrices_of<T const>(x.y);
  be::launch<transpose<T>>({to, from, vector_width_of(to_be_read), vector_width_of(from)}, stream);
}

}  // namespace tk
