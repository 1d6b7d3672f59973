// SPDX-License-Identifier: MIT
// The checks of tk_norm: x, residual, y, r [rows, width] of one type; weight, bias [width] of that
// type or fp32, both of one. y and r may be x or residual themselves.
#include <cmath>

#include "ops/api/entry.hpp"
#include "ops/norm/norm.h"
#include "ops/norm/problem.hpp"

namespace tk::api {
namespace {

static_assert(static_cast<int>(TK_NORM_LAYER) == static_cast<int>(norm_kind::layer) &&
              static_cast<int>(TK_NORM_RMS) == static_cast<int>(norm_kind::rms));
constexpr char const* kind_names[] = {"TK_NORM_LAYER", "TK_NORM_RMS"};

constexpr std::array<char const*, 4> row_axes{"rows", "width"};
constexpr signature x_is{"x", any_type, 2, 1, row_axes};
constexpr signature residual_is{"residual", any_type, 2, 1, row_axes};
constexpr signature y_is{"y", any_type, 2, 1, row_axes};
constexpr signature r_is{"r", any_type, 2, 1, row_axes};
constexpr signature weight_is{"weight", any_type, 1, 1, {"width"}};
constexpr signature bias_is{"bias", any_type, 1, 1, {"width"}};

matrix as_matrix(view const& x) {
  matrix result{};
  result.data = x.data;
  result.type = x.type;
  result.batch = 1;
  result.rows = x.size[0];
  result.cols = x.size[1];
  result.row_stride = x.stride[0];
  return result;
}

view read_like(DLTensor const* given, signature const& is, view const& x, reading const& how) {
  view const result = read(given, is, how);
  expect_same_type(result, x);
  expect_same_size(result, 0, x, 0);
  expect_same_size(result, 1, x, 1);
  return result;
}

view read_scale(DLTensor const* given, signature const& is, view const& x, reading const& how) {
  view const result = read(given, is, how);
  if (result.type != element::fp32) expect_same_type(result, x);
  expect_same_size(result, 0, x, 1);
  return result;
}

checked<norm_problem, 6> check(tk_norm_problem const& given, bool data) {
  int const kind = expect_one_of("kind", given.kind, kind_names);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  if (!std::isfinite(given.eps) || given.eps < 0) {
    refuse(status::bad_value, "eps is ", given.eps, "; it must be finite and not negative");
  }
  reading const how{data, be::rt::current_device()};

  checked<norm_problem, 6> result{};
  auto& [x, residual, weight, bias, y, r] = result.tensors;
  x = read(given.x, x_is, how);
  if (given.residual) residual = read_like(given.residual, residual_is, x, how);
  y = read_like(given.y, y_is, x, how);
  if (given.r) r = read_like(given.r, r_is, x, how);
  if (given.weight) weight = read_scale(given.weight, weight_is, x, how);
  if (given.bias) bias = read_scale(given.bias, bias_is, x, how);
  if (given.weight && given.bias) expect_same_type(bias, weight);

  for (auto const* output : {&y, &r}) {
    if (!output->is) continue;
    expect_distinct_elements(*output);
    if (!data) continue;
    for (auto const* input : {&x, &residual}) {
      if (!is_same(*output, *input)) expect_apart(*output, *input);
    }
    expect_apart(*output, weight);
    expect_apart(*output, bias);
  }
  if (data && r.is) expect_apart(y, r);

  result.empty = x.size[0] == 0 || x.size[1] == 0;
  result.problem = {.x = as_matrix(x),
                    .residual = as_matrix(residual),
                    .y = as_matrix(y),
                    .r = as_matrix(r),
                    .weight = {weight.data, weight.type},
                    .bias = {bias.data, bias.type},
                    .kind = static_cast<norm_kind>(kind),
                    .eps = given.eps};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(norm, repeat, check)
