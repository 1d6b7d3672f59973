// SPDX-License-Identifier: MIT
// What embedding and its backward ask of numbers and of the tensors beside them.
#pragma once
#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"

namespace tk::api {

constexpr signature numbers_are(char const* name) {
  return {name, integers, 3, 1, {"b", "s", "n"}, true};
}
// A row for each number, and the table that they are rows of.
constexpr signature named_are(char const* name) {
  return {name, any_type, 4, 2, {"b", "s", "n", "d"}};
}
constexpr signature table_is(char const* name) { return {name, any_type, 2, 2, {"v", "d"}}; }

// A row for each of ids, as long as those of the table.
inline view read_named(DLTensor const* given, signature const& is, view const& ids,
                       view const& table, reading const& how) {
  view const x = read(given, is, how);
  if (x.rank != ids.rank + 1)
    refuse(status::bad_rank, is.name, " has ", x.rank, " dimensions where ids has ", ids.rank,
           "; it must have ", ids.rank + 1);
  for (int axis = 0; axis < 3; ++axis) expect_same_size(x, axis, ids, axis);
  expect_same_size(x, 3, table, 1);
  return x;
}

inline row_tensor_view as_numbers(view const& x) {
  row_tensor_view y{};
  y.data = x.data;
  y.type = x.type;
  y.outer = x.size[0];
  y.middle = x.size[1];
  y.rows = x.size[2];
  y.width = 1;
  y.outer_stride = x.stride[0];
  y.middle_stride = x.stride[1];
  y.row_stride = x.stride[2];
  return y;
}
inline row_tensor_view as_table(view const& x) {
  row_tensor_view y{};
  y.data = x.data;
  y.type = x.type;
  y.outer = y.middle = 1;
  y.rows = x.size[0];
  y.width = x.size[1];
  y.row_stride = x.stride[0];
  return y;
}

}  // namespace tk::api
