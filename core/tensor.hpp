// SPDX-License-Identifier: MIT
// Global tensors as ops see them: rows and columns at two outer indices, any strides, columns
// contiguous.
//   tensor[i, j, row, col] is data[i * stride0 + j * stride1 + row * row_stride + col]
// Sizes and strides count elements, 64 bits each. window(x, row, col, i, j) is a bounded view into
// a source or sink (what a kernel's arguments carry, made from a tensor by the backend), where none
// of the four is below 0: what lies behind the tensor's ends is read as zero and never written.
// window(x, row, col, i, j, end): rows from `end` on are outside as well.
#pragma once
#include <cstdint>

#include "backends/backend.hpp"

namespace tk {

// n strides, of an n that is not negative.
TK_BOTH std::int64_t steps_of(int n, std::int64_t stride) {
  return static_cast<std::int64_t>(std::uint64_t{static_cast<std::uint32_t>(n)} *
                                   static_cast<std::uint64_t>(stride));
}

template <class T> struct tensor {
  T* data;
  std::int64_t rows, cols, row_stride;
  std::int64_t n0 = 1, stride0 = 0, n1 = 1, stride1 = 0;

  TK_BOTH T* at(std::int64_t row, std::int64_t col, std::int64_t i = 0, std::int64_t j = 0) const {
    return data + (i * stride0 + j * stride1 + row * row_stride + col);
  }
};

// The corner of a tile inside a source or sink.
template <class X> struct window_of {
  X const& of;
  int row, col, i, j;
};
template <class X>
TK_DEVICE window_of<X> window(X const& of, int row, int col = 0, int i = 0, int j = 0) {
  return {of, row, col, i, j};
}

template <class X> struct bounded_window_of {
  window_of<X> all;
  int end;
};
template <class X>
TK_DEVICE bounded_window_of<X> window(X const& of, int row, int col, int i, int j, int end) {
  return {{of, row, col, i, j}, end};
}
// Rows of a tensor, a source or a sink up to `end` at most.
template <class X> TK_DEVICE X rows_before(X x, int end) {
  if constexpr (requires { x.rows; }) x.rows = x.rows < end ? x.rows : end;
  else x.x.rows = x.x.rows < end ? x.x.rows : end;
  return x;
}

}  // namespace tk
