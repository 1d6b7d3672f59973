// SPDX-License-Identifier: MIT
// From a checked problem to a launch of topk. topk_run<T> is instantiated once for each row of
// ops/topk/topk.cmake; ops/topk/topk.cpp chooses among them.
#pragma once
#include "ops/topk/topk.hpp"

namespace tk {

template <class T> struct topk_run {
  static void launch(topk_problem const& x, void* stream);
};

// Two dimensions before the rows of a matrix.
inline topk_rows counted(row_tensor_view const& x) {
  return {x.data, x.row_stride, x.outer_stride, x.middle_stride};
}

template <class T> void topk_run<T>::launch(topk_problem const& x, void* stream) {
  be::launch<topk<T>>({.x = counted(x.x),
                       .values = counted(x.values),
                       .indices = counted(x.indices),
                       .each = divisor(static_cast<std::uint32_t>(x.x.rows)),
                       .middle = divisor(static_cast<std::uint32_t>(x.x.middle)),
                       .rows = static_cast<int>(x.x.outer * x.x.middle * x.x.rows),
                       .width = static_cast<int>(x.x.width),
                       .k = static_cast<int>(x.k),
                       .flip = x.smallest ? ~0u : 0u,
                       .wide = x.indices.type == element::int64},
                      stream);
}

}  // namespace tk
