// SPDX-License-Identifier: MIT
// The checks of tk_gemm: a [m, k], b [k, n] (either may be stored transposed), c and d [m, n], bias
// [n] or [m]. d says what the batch is; the other matrices have that batch or 1. c is looked at
// only where beta is not 0.
#include "ops/api/entry.hpp"
#include "ops/gemm/gemm.h"
#include "ops/gemm/problem.hpp"

namespace tk::api {
namespace {

static_assert(alike(TK_ACTIVATION_NONE, activation_kind::none) &&
              alike(TK_ACTIVATION_RELU, activation_kind::relu) &&
              alike(TK_ACTIVATION_SILU, activation_kind::silu) &&
              alike(TK_ACTIVATION_GELU_TANH, activation_kind::gelu_tanh) &&
              alike(TK_ACTIVATION_GELU_ERF, activation_kind::gelu_erf));
static_assert(alike(TK_BIAS_NONE, bias_kind::none) && alike(TK_BIAS_ROW, bias_kind::row) &&
              alike(TK_BIAS_COLUMN, bias_kind::column));
constexpr char const* epilogue_names[] = {"TK_ACTIVATION_NONE", "TK_ACTIVATION_RELU",
                                          "TK_ACTIVATION_SILU", "TK_ACTIVATION_GELU_TANH",
                                          "TK_ACTIVATION_GELU_ERF"};
constexpr char const* bias_names[] = {"TK_BIAS_NONE", "TK_BIAS_ROW", "TK_BIAS_COLUMN"};

constexpr std::array<char const*, 4> matrix_axes{"batch", "rows", "columns"};
constexpr signature a_is{"a", halves, 3, 2, matrix_axes};
constexpr signature b_is{"b", halves, 3, 2, matrix_axes};
constexpr signature c_is{"c", any_type, 3, 2, matrix_axes};
constexpr signature d_is{"d", any_type, 3, 2, matrix_axes};
constexpr signature bias_is{"bias", any_type, 1, 1, {"elements"}};

// A batch of one matrix, however often, is that matrix.
matrix as_matrix(view const& x) {
  matrix result{};
  result.data = x.data;
  result.type = x.type;
  result.batch = x.stride[0] == 0 ? 1 : x.size[0];
  result.rows = x.size[1];
  result.cols = x.size[2];
  result.batch_stride = x.stride[0];
  result.row_stride = x.stride[1];
  return result;
}

void expect_batch(view const& x, view const& d) {
  if (x.size[0] != 1) expect_same_size(x, 0, d, 0);
}

void read_bias(view& bias, view const& d, tk_gemm_problem const& given, reading const& how) {
  auto const kind = static_cast<bias_kind>(expect_one_of("bias_kind", given.bias_kind, bias_names));
  if (kind == bias_kind::none) {
    if (given.bias) refuse(status::bad_value, "bias is given but bias_kind is TK_BIAS_NONE");
    return;
  }
  if (!given.bias) {
    refuse(status::null_pointer, "bias is NULL but bias_kind is ",
           bias_names[static_cast<int>(kind)]);
  }
  bias = read(given.bias, bias_is, how);
  expect_type_or_fp32(bias, d);
  expect_same_size(bias, 0, d, kind == bias_kind::row ? 2 : 1);
}

checked<gemm_problem, 5> check(tk_gemm_problem const& given, bool data) {
  int const ta = expect_one_of("transpose_a", given.transpose_a, flag_names);
  int const tb = expect_one_of("transpose_b", given.transpose_b, flag_names);
  int const activation = expect_one_of("activation", given.activation, epilogue_names);
  int const repeat = expect_one_of("repeat", given.repeat, repeat_names);
  expect_reserved(given.reserved);
  reading const how{data, be::rt::current_device()};

  checked<gemm_problem, 5> result{};
  auto& [a, b, c, d, bias] = result.tensors;
  a = read(given.a, a_is, how);
  b = read(given.b, b_is, how);
  d = read(given.d, d_is, how);
  expect_same_type(b, a);
  expect_same_size(b, 1 + tb, a, 2 - ta);
  expect_same_size(d, 1, a, 1 + ta);
  expect_same_size(d, 2, b, 2 - tb);
  expect_batch(a, d);
  expect_batch(b, d);
  if (given.beta != 0) {
    if (!given.c) refuse(status::null_pointer, "c is NULL but beta is ", given.beta);
    c = read(given.c, c_is, how);
    expect_same_type(c, d);
    expect_same_size(c, 1, d, 1);
    expect_same_size(c, 2, d, 2);
    expect_batch(c, d);
  }
  read_bias(bias, d, given, how);

  expect_distinct_elements(d);
  if (data) {
    for (auto const* input : {&a, &b, &bias}) expect_apart(d, *input);
    if (!is_same(c, d)) expect_apart(d, c);  // of another batch, c has other strides
  }

  result.empty = d.size[0] == 0 || d.size[1] == 0 || d.size[2] == 0;
  result.problem = {.a = as_matrix(a),
                    .b = as_matrix(b),
                    .c = as_matrix(c),
                    .d = as_matrix(d),
                    .bias = {bias.data, bias.type},
                    .batch = d.size[0],
                    .m = d.size[1],
                    .n = d.size[2],
                    .k = a.size[2 - ta],
                    .transpose_a = ta == 1,
                    .transpose_b = tb == 1,
                    .alpha = given.alpha,
                    .beta = given.beta,
                    .bias_along = static_cast<bias_kind>(number_of(given.bias_kind)),
                    .activation = static_cast<activation_kind>(activation),
                    .repeat = static_cast<repeat_kind>(repeat)};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(gemm, repeat, check)
