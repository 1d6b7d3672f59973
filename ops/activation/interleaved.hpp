// SPDX-License-Identifier: MIT
// What the checks of activation and its backward ask of tensors whose rows hold pairs of 16-bit
// numbers, (a, b), which are moved as elements of 32 bits.
#pragma once
#include "ops/api/refuse.hpp"
#include "ops/api/rows.hpp"

namespace tk::api {

[[noreturn]] inline void refuse_beside_interleaved(char const* name) {
  refuse(status::bad_value, name, " is given where interleaved is 1; it must be NULL");
}

constexpr signature pairs_are(char const* name) { return {name, halves, 4, 1, row_axes}; }

// An even width, even strides, and data aligned to pairs.
inline void expect_pairs(view const& x) {
  if (x.size[3] % 2 != 0)
    refuse(status::bad_shape, x.is->name, " has width = ", x.size[3],
           "; it must be even where interleaved is 1");
  for (int axis = 0; axis < 3; ++axis) {
    if (x.stride[axis] % 2 == 0) continue;
    refuse(status::bad_stride, x.is->name, " has stride ", x.stride[axis], " in ", row_axes[axis],
           "; it must be even where interleaved is 1");
  }
  if (x.address % 4 != 0)
    refuse(status::bad_alignment, x.is->name, " at ", x.data,
           " is not aligned to its pairs of 4 bytes, as it must be where interleaved is 1");
}
inline view read_pairs(DLTensor const* given, signature const& is, reading const& how) {
  view const x = read(given, is, how);
  expect_pairs(x);
  return x;
}

// Of x's rank, type and sizes, but for half of its width.
inline view read_one_of_each_pair(DLTensor const* given, signature const& is, view const& x,
                                  reading const& how) {
  view const y = read(given, is, how);
  expect_same_rank(y, x);
  for (int axis = 0; axis < 3; ++axis) expect_same_size(y, axis, x, axis);
  if (2 * y.size[3] != x.size[3])
    refuse(status::bad_shape, is.name, " has width = ", y.size[3], " where ", x.is->name,
           " has width = ", x.size[3], "; it must be half of that where interleaved is 1");
  expect_same_type(y, x);
  return y;
}

}  // namespace tk::api
