// SPDX-License-Identifier: MIT
// The rows of a tensor that has one for each token, by the token's number in b, s and n.
#pragma once
#include <algorithm>

#include "core/row_operand.hpp"
#include "ops/tensors.hpp"

namespace tk {

template <class T> counted_rows<T> rows_of_tokens(row_tensor_view const& x) {
  auto const by = [](std::int64_t size) {
    return divisor(static_cast<std::uint32_t>(std::max<std::int64_t>(size, 1)));
  };
  return {static_cast<T*>(x.data),
          x.outer * x.middle * x.rows,
          x.width,
          x.row_stride,
          x.outer_stride,
          x.middle_stride,
          lie_evenly(x),
          by(x.rows),
          by(x.middle)};
}

}  // namespace tk
