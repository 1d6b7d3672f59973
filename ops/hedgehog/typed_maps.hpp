// SPDX-License-Identifier: MIT
#pragma once
#include "core/tensor.hpp"
#include "ops/hedgehog/plan.hpp"

namespace tk {

template <class T> tensor<T> typed(feature_map const& x) {
  return {static_cast<T*>(x.data), hedgehog_width, hedgehog_features, x.d_stride, x.h, x.h_stride};
}

}  // namespace tk
