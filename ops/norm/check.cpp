// SPDX-License-Identifier: MIT
// The checks of tk_norm: x, y [rows, width] of one type, residual and r of that or both fp32;
// weight, bias [width] of x's type or fp32, both of one. y and r may be x or residual themselves.
#include "ops/api/entry.hpp"
#include "ops/norm/checks.hpp"

namespace tk::api {
namespace {

constexpr std::array<char const*, 4> row_axes{"rows", "width"};
constexpr signature x_is{"x", any_type, 2, 1, row_axes};
constexpr signature residual_is{"residual", any_type, 2, 1, row_axes};
constexpr signature y_is{"y", any_type, 2, 1, row_axes};
constexpr signature r_is{"r", any_type, 2, 1, row_axes};
constexpr signature weight_is = columns_are("weight"), bias_is = columns_are("bias");

row_tensor_view as_rows(view const& x) {
  row_tensor_view y{};
  y.data = x.data;
  y.type = x.type;
  y.outer = y.middle = 1;
  y.rows = x.size[0];
  y.width = x.size[1];
  y.row_stride = x.stride[0];
  return y;
}

view read_like(DLTensor const* given, signature const& is, view const& x, reading const& how) {
  view const result = read(given, is, how);
  expect_same_size(result, 0, x, 0);
  expect_same_size(result, 1, x, 1);
  return result;
}

checked<norm_problem, 7> check(tk_norm_problem const& given, bool data) {
  norm_kind const kind = read_kind(given.kind);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  expect_eps(given.eps);
  reading const how{data, be::rt::current_device()};

  checked<norm_problem, 7> result{};
  auto& [x, residual, weight, bias, y, r, random_state] = result.tensors;
  x = read(given.x, x_is, how);
  if (given.residual) residual = read_like(given.residual, residual_is, x, how);
  y = read_like(given.y, y_is, x, how);
  expect_same_type(y, x);
  if (given.r) r = read_like(given.r, r_is, x, how);
  for (auto const* part : {&residual, &r})
    if (part->is) expect_type_or_fp32(*part, x);
  if (given.residual && given.r) expect_same_type(r, residual);
  if (given.weight) weight = read_columns(given.weight, weight_is, x, 1, how);
  if (given.bias) bias = read_columns(given.bias, bias_is, x, 1, how);
  if (given.weight && given.bias) expect_same_type(bias, weight);
  auto const dropout = read_mask(given, random_state, how);

  for (auto const* output : {&y, &r}) {
    if (!output->is) continue;
    expect_distinct_elements(*output);
    if (!data) continue;
    for (auto const* input : {&x, &residual}) {
      if (!is_same(*output, *input)) expect_apart(*output, *input);
    }
    for (auto const* input : {&weight, &bias, &random_state}) expect_apart(*output, *input);
  }
  if (data && r.is) expect_apart(y, r);

  result.empty = x.size[0] == 0 || x.size[1] == 0;
  result.problem = {.x = as_rows(x),
                    .residual = as_rows(residual),
                    .y = as_rows(y),
                    .r = as_rows(r),
                    .weight = {weight.data, weight.type},
                    .bias = {bias.data, bias.type},
                    .kind = kind,
                    .eps = given.eps,
                    .stream = given.residual ? residual.type
                              : given.r      ? r.type
                                             : x.type,
                    .dropout = dropout};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(norm, repeat, check)
