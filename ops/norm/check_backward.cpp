// SPDX-License-Identifier: MIT
// The checks of tk_norm_backward: r, dy, dr, dx and dresidual of up to four dimensions, the same
// sizes, dy and dx of one type, the others of that or all fp32; weight, dweight, dbias [width] of
// dy's type or fp32. dx and dresidual may be r, dy or dr themselves.
#include <vector>

#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"
#include "ops/norm/checks.hpp"
#include "ops/norm/norm_backward.h"

namespace tk::api {
namespace {

constexpr signature r_is = rows_are("r"), dy_is = rows_are("dy"), dr_is = rows_are("dr"),
                    dx_is = rows_are("dx"), dresidual_is = rows_are("dresidual");
constexpr signature weight_is = columns_are("weight"), dweight_is = columns_are("dweight"),
                    dbias_is = columns_are("dbias");

// Outputs by rows and by columns: an output may be a row input itself, and is else apart from all.
void expect_places(std::initializer_list<view const*> by_rows,
                   std::initializer_list<view const*> by_columns,
                   std::initializer_list<view const*> rows,
                   std::initializer_list<view const*> others) {
  for (auto const* output : by_rows)
    for (auto const* input : rows)
      if (!is_same(*output, *input)) expect_apart(*output, *input);
  for (auto const* output : by_columns)
    for (auto const* input : rows) expect_apart(*output, *input);
  std::vector<view const*> outputs(by_rows);
  outputs.insert(outputs.end(), by_columns);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (auto const* input : others) expect_apart(*outputs[i], *input);
    for (std::size_t j = i + 1; j < outputs.size(); ++j) expect_apart(*outputs[i], *outputs[j]);
  }
}

row_tensor_view no_rows(row_tensor_view x) {
  x.outer = x.middle = 1;
  x.rows = 0;
  return x;
}

checked<norm_backward_problem, 9> check(tk_norm_backward_problem const& given, bool data) {
  norm_kind const kind = read_kind(given.kind);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  expect_eps(given.eps);
  reading const how{data, be::rt::current_device()};

  checked<norm_backward_problem, 9> result{};
  auto& [r, dy, weight, dr, dx, dweight, dbias, dresidual, random_state] = result.tensors;
  r = read(given.r, r_is, how);
  dy = read_rows_of_size(given.dy, dy_is, r, how);
  expect_type_or_fp32(r, dy);
  if (given.dr) dr = read_rows_like(given.dr, dr_is, r, how);
  dx = read_rows_of_size(given.dx, dx_is, r, how);
  expect_same_type(dx, dy);
  if (given.weight) weight = read_columns(given.weight, weight_is, dy, 3, how);
  if (given.dweight) dweight = read_columns(given.dweight, dweight_is, dy, 3, how);
  if (given.dbias) dbias = read_columns(given.dbias, dbias_is, dy, 3, how);
  if (given.dweight && given.dbias) expect_same_type(dbias, dweight);
  auto const dropout = read_mask(given, random_state, how);
  if (given.dresidual) dresidual = read_rows_like(given.dresidual, dresidual_is, r, how);
  else if (dropout.below != 0)
    refuse(status::null_pointer, "dresidual is NULL where dropout is ", given.dropout,
           ", with which it is not dx");

  for (auto const* output : {&dx, &dresidual})
    if (output->is) expect_distinct_elements(*output);
  if (data)
    expect_places({&dx, &dresidual}, {&dweight, &dbias}, {&r, &dy, &dr}, {&weight, &random_state});

  bool const rows = has_elements(r), sums = given.dweight || given.dbias;
  result.empty = !rows && (r.size[3] == 0 || !sums);
  result.problem = {.r = as_rows(r),
                    .dy = as_rows(dy),
                    .dr = as_rows(dr),
                    .dx = as_rows(dx),
                    .dresidual = as_rows(dresidual),
                    .weight = {weight.data, weight.type},
                    .dweight = {dweight.data, dweight.type},
                    .dbias = {dbias.data, dbias.type},
                    .kind = kind,
                    .eps = given.eps,
                    .dropout = dropout};
  auto& x = result.problem;
  if (!rows)
    for (auto* part : {&x.r, &x.dy, &x.dr, &x.dx, &x.dresidual}) *part = no_rows(*part);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(norm_backward, repeat, check)
