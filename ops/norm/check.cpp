// SPDX-License-Identifier: MIT
// The checks of tk_norm: x, y, residual and r of up to four dimensions, the same sizes, x and y of
// one type, residual and r of that or both fp32; weight, bias [width] of x's type or fp32, both of
// one. y and r may be x or residual themselves. y may be fp8 beside 16 bits, with y_scale.
#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"
#include "ops/norm/checks.hpp"

namespace tk::api {
namespace {

constexpr signature x_is = rows_are("x"), residual_is = rows_are("residual"), r_is = rows_are("r");
constexpr signature y_is{"y", any_type | fp8, 4, 1, row_axes};
constexpr signature weight_is = columns_are("weight"), bias_is = columns_are("bias");
constexpr signature row_scale_is = one_of_each_row("y_scale", fp32_only),
                    scale_is{"y_scale", fp32_only, 1, 0, {"numbers"}, true};

// Of x's sizes; leading ones of 1 may be left out in either.
view read_like(DLTensor const* given, signature const& is, view const& x, reading const& how) {
  view const result = read(given, is, how);
  for (int axis = 0; axis < 4; ++axis) expect_same_size(result, axis, x, axis);
  return result;
}

// The scales of y: written, a number for each row, or read, one for all of them.
norm_scale read_scale(tk_norm_problem const& given, view& scale, view const& x,
                      reading const& how) {
  int const kind = number_of(given.y_scale_kind);
  bool const one = kind == TK_SCALE_GIVEN;
  if (kind != TK_SCALE_ROW && !one)
    refuse(status::bad_value, "y_scale_kind is ", kind,
           "; it must be TK_SCALE_ROW or TK_SCALE_GIVEN");
  int const power_of_two = expect_one_of("power_of_two", given.power_of_two, flag_names);
  if (one && power_of_two != 0)
    refuse(status::bad_value, "power_of_two is 1; with TK_SCALE_GIVEN it must be 0");
  scale =
      one ? read(given.y_scale, scale_is, how) : read_each_row(given.y_scale, row_scale_is, x, how);
  if (one && scale.size[0] != 1)
    refuse(status::bad_shape, "y_scale has numbers = ", scale.size[0], "; it must have 1");
  expect_distinct_elements(scale);
  view each = scale;  // [b, h, rows, 1]
  each.size = {x.size[0], x.size[1], x.size[2], 1};
  if (one) each.stride = {};
  return {as_rows(each), one, power_of_two == 1};
}

void expect_fp8_possible(view const& x, element stream, norm_dropout const& dropout) {
  if (x.type == element::fp32)
    refuse(status::bad_type, "x is fp32; with y of fp8 it must be bf16 or fp16");
  if (stream == element::fp32)
    refuse(status::bad_type, "residual or r is fp32; with y of fp8 they must be of x's type");
  if (dropout.below != 0)
    refuse(status::unsupported, "dropout is ", dropout.below, "/256; with y of fp8 it must be 0");
}
void expect_no_scale(tk_norm_problem const& given) {
  if (given.y_scale)
    refuse(status::bad_type, "y is not of fp8; with y_scale it must be fp8 e4m3 or fp8 e5m2");
  if (int const kind = number_of(given.y_scale_kind); kind != 0)
    refuse(status::bad_value, "y_scale_kind is ", kind, "; where y is not of fp8 it must be 0");
  if (given.power_of_two != 0)
    refuse(status::bad_value, "power_of_two is ", given.power_of_two,
           "; where y is not of fp8 it must be 0");
}

checked<norm_problem, 8> check(tk_norm_problem const& given, bool data) {
  norm_kind const kind = read_kind(given.kind);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  expect_eps(given.eps);
  reading const how{data, be::rt::current_device()};

  checked<norm_problem, 8> result{};
  auto& [x, residual, weight, bias, y, r, random_state, y_scale] = result.tensors;
  x = read(given.x, x_is, how);
  if (given.residual) residual = read_like(given.residual, residual_is, x, how);
  y = read_like(given.y, y_is, x, how);
  bool const is_fp8 = (only(y.type) & fp8) != 0;
  if (!is_fp8) expect_same_type(y, x);
  if (given.r) r = read_like(given.r, r_is, x, how);
  for (auto const* part : {&residual, &r})
    if (part->is) expect_type_or_fp32(*part, x);
  if (given.residual && given.r) expect_same_type(r, residual);
  if (given.weight) weight = read_columns(given.weight, weight_is, x, 3, how);
  if (given.bias) bias = read_columns(given.bias, bias_is, x, 3, how);
  if (given.weight && given.bias) expect_same_type(bias, weight);
  auto const dropout = read_mask(given, random_state, how);
  element const stream = given.residual ? residual.type : given.r ? r.type : x.type;
  norm_scale scale{};
  if (is_fp8) {
    expect_fp8_possible(x, stream, dropout);
    scale = read_scale(given, y_scale, x, how);
  } else {
    expect_no_scale(given);
  }

  for (auto const* output : {&y, &r}) {
    if (!output->is) continue;
    expect_distinct_elements(*output);
    if (!data) continue;
    for (auto const* input : {&x, &residual}) {
      if (!is_same(*output, *input)) expect_apart(*output, *input);
    }
    for (auto const* other : {&weight, &bias, &random_state, &y_scale})
      expect_apart(*output, *other);
  }
  if (data && r.is) expect_apart(y, r);
  if (data)
    for (auto const* input : {&x, &residual, &weight, &bias, &random_state})
      expect_apart(y_scale, *input);

  // Rows without columns have scales.
  result.empty = is_fp8 && !scale.given ? !has_rows(x) : !has_elements(x);
  result.problem = {.x = as_rows(x),
                    .residual = as_rows(residual),
                    .y = as_rows(y),
                    .r = as_rows(r),
                    .weight = {weight.data, weight.type},
                    .bias = {bias.data, bias.type},
                    .kind = kind,
                    .eps = given.eps,
                    .stream = stream,
                    .dropout = dropout,
                    .y_scale = scale};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(norm, repeat, check)
