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

// Of x's rank and sizes.
inline view read_rows_of_size(DLTensor const* given, signature const& is, view const& x,
                              reading const& how) {
  view const result = read(given, is, how);
  expect_same_rank(result, x);
  for (int axis = 0; axis < 4; ++axis) expect_same_size(result, axis, x, axis);
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

inline bool has_elements(view const& x) {
  return x.size[0] != 0 && x.size[1] != 0 && x.size[2] != 0 && x.size[3] != 0;
}

}  // namespace tk::api
