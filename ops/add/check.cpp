// SPDX-License-Identifier: MIT
// The checks of tk_add: a and y of up to four dimensions and the same sizes, of any types; b, which
// is looked at where beta is not 0, of y's type and a's rank, each size but the last a's or 1. y
// may be a or b itself.
#include "ops/add/add.h"
#include "ops/add/problem.hpp"
#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"

namespace tk::api {
namespace {

constexpr signature a_is = rows_are("a"), b_is = rows_are("b"), y_is = rows_are("y");

checked<add_problem, 3> check(tk_add_problem const& given, bool data) {
  expect_one_of("repeat", given.repeat, repeat_names);  // elements are alike either way
  expect_reserved(given.reserved);
  reading const how{data, be::rt::current_device()};

  checked<add_problem, 3> result{};
  auto& [a, b, y] = result.tensors;
  a = read(given.a, a_is, how);
  y = read(given.y, y_is, how);
  expect_same_shape(y, a);
  if (given.beta != 0) {
    if (!given.b) refuse(status::null_pointer, "b is NULL but beta is ", given.beta);
    b = read(given.b, b_is, how);
    expect_same_type(b, y);
    expect_broadcast_shape(b, a);
  }

  expect_distinct_elements(y);
  if (data) {
    if (!is_same(y, a)) expect_apart(y, a);
    if (b.is && !is_same(y, b)) expect_apart(y, b);
  }

  result.empty = !has_elements(a);
  result.problem = {
      .a = as_rows(a), .b = {}, .y = as_rows(y), .alpha = given.alpha, .beta = given.beta};
  if (b.is) result.problem.b = broadcast(as_rows(b), result.problem.a);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(add, repeat, check)
