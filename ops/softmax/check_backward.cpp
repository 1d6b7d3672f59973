// SPDX-License-Identifier: MIT
// The checks of tk_softmax_backward: y, dy, dx and dbias of up to four dimensions, the same sizes
// and one type. dx and dbias may be y or dy themselves.
#include <cmath>

#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"
#include "ops/softmax/problem.hpp"
#include "ops/softmax/softmax_backward.h"

namespace tk::api {
namespace {

constexpr signature y_is = rows_are("y"), dy_is = rows_are("dy"), dx_is = rows_are("dx"),
                    dbias_is = rows_are("dbias");

checked<softmax_backward_problem, 4> check(tk_softmax_backward_problem const& given, bool data) {
  int const mask = expect_one_of("mask", given.mask, mask_names);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  if (!std::isfinite(given.scale)) {
    refuse(status::bad_value, "scale is ", given.scale, "; it must be finite");
  }
  reading const how{data, be::rt::current_device()};

  checked<softmax_backward_problem, 4> result{};
  auto& [y, dy, dx, dbias] = result.tensors;
  y = read(given.y, y_is, how);
  dy = read_rows_like(given.dy, dy_is, y, how);
  dx = read_rows_like(given.dx, dx_is, y, how);
  if (given.dbias) dbias = read_rows_like(given.dbias, dbias_is, y, how);

  for (auto const* output : {&dx, &dbias}) {
    if (!output->is) continue;
    expect_distinct_elements(*output);
    if (!data) continue;
    for (auto const* input : {&y, &dy}) {
      if (!is_same(*output, *input)) expect_apart(*output, *input);
    }
  }
  if (data && dbias.is) expect_apart(dx, dbias);

  result.empty = !has_elements(y);
  result.problem = {.y = as_rows(y),
                    .dy = as_rows(dy),
                    .dx = as_rows(dx),
                    .dbias = as_rows(dbias),
                    .scale = given.scale,
                    .mask = static_cast<mask_kind>(mask)};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(softmax_backward, repeat, check)
