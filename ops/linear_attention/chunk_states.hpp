// SPDX-License-Identifier: MIT
#pragma once
#include "core/tensor.hpp"
#include "ops/linear_attention/plan.hpp"

namespace tk {

template <class T> tensor<T> typed(chunk_states const& x) {
  auto const size = x.rows * x.cols;
  return {static_cast<T*>(x.data), x.rows, x.cols, x.cols, x.h, size, x.chunks, x.h * size};
}

}  // namespace tk
