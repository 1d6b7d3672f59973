// SPDX-License-Identifier: MIT
// Operands of ops that go row by row: [width], [rows, width], [h, rows, width] or
// [b, h, rows, width].
#pragma once
#include "ops/api/refuse.hpp"
#include "ops/api/view.hpp"

namespace tk::api {

inline constexpr std::array<char const*, 4> row_axes{"b", "h", "rows", "width"};
constexpr signature rows_are(char const* name) { return {name, any_type, 4, 1, row_axes}; }

inline void expect_same_rank(view const& x, view const& y) {
  if (x.rank == y.rank) return;
  refuse(status::bad_rank, x.is->name, " has ", x.rank, " dimensions where ", y.is->name, " has ",
         y.rank);
}

inline void expect_same_shape(view const& x, view const& y) {
  expect_same_rank(x, y);
  for (int axis = 0; axis < 4; ++axis) expect_same_size(x, axis, y, axis);
}
// Each size of x but the last is y's or 1.
inline void expect_broadcast_shape(view const& x, view const& y) {
  expect_same_rank(x, y);
  for (int axis = 0; axis < 3; ++axis) {
    if (x.size[axis] == y.size[axis] || x.size[axis] == 1) continue;
    refuse(status::bad_shape, x.is->name, " has ", row_axes[axis], " = ", x.size[axis],
           "; it must be 1 or that of ", y.is->name, ", ", y.size[axis]);
  }
  expect_same_size(x, 3, y, 3);
}

// Of x's rank and sizes.
inline view read_rows_of_size(DLTensor const* given, signature const& is, view const& x,
                              reading const& how) {
  view const result = read(given, is, how);
  expect_same_shape(result, x);
  return result;
}
// And of its type.
inline view read_rows_like(DLTensor const* given, signature const& is, view const& x,
                           reading const& how) {
  view const result = read_rows_of_size(given, is, x, how);
  expect_same_type(result, x);
  return result;
}

inline row_tensor_view as_rows(view const& x) {
  row_tensor_view y{};
  y.data = x.data;
  y.type = x.type;
  y.outer = x.size[0];
  y.middle = x.size[1];
  y.rows = x.size[2];
  y.width = x.size[3];
  y.outer_stride = x.stride[0];
  y.middle_stride = x.stride[1];
  y.row_stride = x.stride[2];
  return y;
}

// A size of 1 has stride 0 in a view, so that it may stand for any of x.
inline row_tensor_view broadcast(row_tensor_view few, row_tensor_view const& x) {
  few.outer = x.outer;
  few.middle = x.middle;
  few.rows = x.rows;
  return few;
}

// A number for each row of x, anywhere.
constexpr signature one_of_each_row(char const* name, unsigned types) {
  return {name, types, 3, 0, {"b", "h", "rows"}, true};
}
inline view read_each_row(DLTensor const* given, signature const& is, view const& x,
                          reading const& how) {
  view const result = read(given, is, how);
  if (result.rank != x.rank - 1)
    refuse(status::bad_rank, is.name, " has ", result.rank, " dimensions where x has ", x.rank,
           "; it must have ", x.rank - 1);
  for (int axis = 0; axis < 3; ++axis) expect_same_size(result, axis, x, axis);
  return result;
}

inline bool has_rows(view const& x) { return x.size[0] != 0 && x.size[1] != 0 && x.size[2] != 0; }
inline bool has_elements(view const& x) {
  return x.size[0] != 0 && x.size[1] != 0 && x.size[2] != 0 && x.size[3] != 0;
}

}  // namespace tk::api
