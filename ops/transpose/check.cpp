// SPDX-License-Identifier: MIT
// The checks of tk_transpose: x of two to four dimensions, y of its type, rank and sizes, of which
// the last two are exchanged; apart.
#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"
#include "ops/transpose/problem.hpp"
#include "ops/transpose/transpose.h"

namespace tk::api {
namespace {

constexpr unsigned types = any_type | fp8 | only(element::int32);
constexpr signature x_is{"x", types, 4, 2, {"b", "h", "n", "m"}};
constexpr signature y_is{"y", types, 4, 2, {"b", "h", "m", "n"}};

checked<transpose_problem, 2> check(tk_transpose_problem const& given, bool data) {
  expect_one_of("repeat", given.repeat, repeat_names);  // elements are alike either way
  expect_reserved(given.reserved);
  reading const how{data, be::rt::current_device()};

  checked<transpose_problem, 2> result{};
  auto& [x, y] = result.tensors;
  x = read(given.x, x_is, how);
  y = read(given.y, y_is, how);
  expect_same_type(y, x);
  expect_same_rank(y, x);
  for (int axis = 0; axis < 2; ++axis) expect_same_size(y, axis, x, axis);
  expect_same_size(y, 2, x, 3);
  expect_same_size(y, 3, x, 2);
  expect_distinct_elements(y);
  if (data) expect_apart(y, x);

  result.empty = !has_elements(x);
  result.problem = {.x = as_rows(x), .y = as_rows(y)};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(transpose, repeat, check)
