// SPDX-License-Identifier: MIT
#pragma once
#include "core/tensor.hpp"
#include "ops/linear_attention/problem.hpp"

namespace tk {

// Rows are columns of k, the outer indices head and sequence.
template <class T> tensor<T> typed(state_tensor const& x) {
  return {static_cast<T*>(x.data), x.d, x.dv, x.d_stride, x.h, x.h_stride, x.b, x.b_stride};
}

}  // namespace tk
