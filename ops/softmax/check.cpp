// SPDX-License-Identifier: MIT
// The checks of tk_softmax: x and y of up to four dimensions and one type; bias and bool_mask of
// x's rank, each size but the last x's or 1, of x's type or fp32, and bool or uint8. y may be x
// itself.
#include <cmath>

#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"
#include "ops/softmax/problem.hpp"
#include "ops/softmax/softmax.h"

namespace tk::api {
namespace {

constexpr signature x_is = rows_are("x"), bias_is = rows_are("bias"), y_is = rows_are("y"),
                    bool_mask_is{"bool_mask", booleans, 4, 1, row_axes};

view read_bias(DLTensor const* given, view const& x, reading const& how) {
  view const bias = read(given, bias_is, how);
  expect_type_or_fp32(bias, x);
  expect_broadcast_shape(bias, x);
  return bias;
}

checked<softmax_problem, 4> check(tk_softmax_problem const& given, bool data) {
  int const mask = expect_one_of("mask", given.mask, mask_names);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  if (!std::isfinite(given.scale)) {
    refuse(status::bad_value, "scale is ", given.scale, "; it must be finite");
  }
  reading const how{data, be::rt::current_device()};

  checked<softmax_problem, 4> result{};
  auto& [x, bias, y, bool_mask] = result.tensors;
  x = read(given.x, x_is, how);
  y = read_rows_like(given.y, y_is, x, how);
  if (given.bias) bias = read_bias(given.bias, x, how);
  if (given.bool_mask) {
    bool_mask = read(given.bool_mask, bool_mask_is, how);
    expect_broadcast_shape(bool_mask, x);
  }

  expect_distinct_elements(y);
  if (data) {
    if (!is_same(y, x)) expect_apart(y, x);
    expect_apart(y, bias);
    expect_apart(y, bool_mask);
  }

  result.empty = !has_elements(x);
  result.problem = {.x = as_rows(x),
                    .bias = {},
                    .y = as_rows(y),
                    .scale = given.scale,
                    .mask = static_cast<mask_kind>(mask),
                    .bool_mask = {}};
  auto const& rows = result.problem.x;
  if (given.bias) result.problem.bias = broadcast(as_rows(bias), rows);
  if (given.bool_mask) result.problem.bool_mask = broadcast(as_rows(bool_mask), rows);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(softmax, repeat, check)
