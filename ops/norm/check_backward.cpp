// SPDX-License-Identifier: MIT
// The checks of tk_norm_backward: r, dy, dr and dx of up to four dimensions, the same sizes and one
// type; weight, dweight, dbias [width] of that type or fp32. dx may be r, dy or dr itself.
#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"
#include "ops/norm/checks.hpp"
#include "ops/norm/norm_backward.h"

namespace tk::api {
namespace {

constexpr signature r_is = rows_are("r"), dy_is = rows_are("dy"), dr_is = rows_are("dr"),
                    dx_is = rows_are("dx");
constexpr signature weight_is = columns_are("weight"), dweight_is = columns_are("dweight"),
                    dbias_is = columns_are("dbias");

void expect_places(view const& dx, view const& dweight, view const& dbias,
                   std::initializer_list<view const*> rows, view const& weight) {
  for (auto const* input : rows) {
    if (!is_same(dx, *input)) expect_apart(dx, *input);
    expect_apart(dweight, *input);
    expect_apart(dbias, *input);
  }
  for (auto const* output : {&dx, &dweight, &dbias}) expect_apart(*output, weight);
  expect_apart(dx, dweight);
  expect_apart(dx, dbias);
  expect_apart(dweight, dbias);
}

row_tensor_view no_rows(row_tensor_view x) {
  x.outer = x.middle = 1;
  x.rows = 0;
  return x;
}

checked<norm_backward_problem, 7> check(tk_norm_backward_problem const& given, bool data) {
  norm_kind const kind = read_kind(given.kind);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  expect_eps(given.eps);
  reading const how{data, be::rt::current_device()};

  checked<norm_backward_problem, 7> result{};
  auto& [r, dy, weight, dr, dx, dweight, dbias] = result.tensors;
  r = read(given.r, r_is, how);
  dy = read_rows_like(given.dy, dy_is, r, how);
  if (given.dr) dr = read_rows_like(given.dr, dr_is, r, how);
  dx = read_rows_like(given.dx, dx_is, r, how);
  if (given.weight) weight = read_columns(given.weight, weight_is, r, 3, how);
  if (given.dweight) dweight = read_columns(given.dweight, dweight_is, r, 3, how);
  if (given.dbias) dbias = read_columns(given.dbias, dbias_is, r, 3, how);
  if (given.dweight && given.dbias) expect_same_type(dbias, dweight);

  expect_distinct_elements(dx);
  if (data) expect_places(dx, dweight, dbias, {&r, &dy, &dr}, weight);

  bool const rows = has_elements(r), sums = given.dweight || given.dbias;
  result.empty = !rows && (r.size[3] == 0 || !sums);
  result.problem = {.r = as_rows(r),
                    .dy = as_rows(dy),
                    .dr = as_rows(dr),
                    .dx = as_rows(dx),
                    .weight = {weight.data, weight.type},
                    .dweight = {dweight.data, dweight.type},
                    .dbias = {dbias.data, dbias.type},
                    .kind = kind,
                    .eps = given.eps};
  auto& x = result.problem;
  if (!rows)
    for (auto* part : {&x.r, &x.dy, &x.dr, &x.dx}) *part = no_rows(*part);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(norm_backward, repeat, check)
