// SPDX-License-Identifier: MIT
#pragma once
#include "core/tensor.hpp"
#include "ops/tensors.hpp"

namespace tk {

// Rows are tokens, the outer indices head and batch.
template <class T> tensor<T> typed(heads const& x) {
  return {static_cast<T*>(x.data), x.n, x.d, x.n_stride, x.h, x.h_stride, x.b, x.b_stride};
}

}  // namespace tk
