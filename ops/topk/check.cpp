// SPDX-License-Identifier: MIT
// The checks of tk_topk: x of up to four dimensions; values and indices, of which one may be
// absent, of its rank and sizes but for the last, which is the same in both and at most x's.
#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"
#include "ops/topk/problem.hpp"
#include "ops/topk/topk.h"

namespace tk::api {
namespace {

constexpr std::array<char const*, 4> result_axes{"b", "h", "rows", "k"};
constexpr signature x_is = rows_are("x"), values_are{"values", any_type, 4, 1, result_axes},
                    indices_are{"indices", integers, 4, 1, result_axes};

view read_result(DLTensor const* given, signature const& is, view const& x, reading const& how) {
  view const result = read(given, is, how);
  expect_same_rank(result, x);
  for (int axis = 0; axis < 3; ++axis) expect_same_size(result, axis, x, axis);
  if (result.size[3] > x.size[3])
    refuse(status::bad_shape, is.name, " has k = ", result.size[3],
           "; it must be at most the width of x, ", x.size[3]);
  return result;
}

checked<topk_problem, 3> check(tk_topk_problem const& given, bool data) {
  int const smallest = expect_one_of("smallest", given.smallest, flag_names);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  expect_reserved(given.reserved2, "reserved2");
  if (!given.values && !given.indices)
    refuse(status::null_pointer, "values and indices are both NULL; one must be given");
  reading const how{data, be::rt::current_device()};

  checked<topk_problem, 3> result{};
  auto& [x, values, indices] = result.tensors;
  x = read(given.x, x_is, how);
  if (given.values) {
    values = read_result(given.values, values_are, x, how);
    expect_same_type(values, x);
  }
  if (given.indices) indices = read_result(given.indices, indices_are, x, how);
  if (given.values && given.indices) expect_same_size(indices, 3, values, 3);
  view const& any = given.values ? values : indices;

  for (auto const* output : {&values, &indices}) {
    if (!output->is) continue;
    expect_distinct_elements(*output);
    if (data) expect_apart(*output, x);
  }
  if (data && given.values && given.indices) expect_apart(values, indices);

  result.empty = !has_elements(any);
  result.problem = {.x = as_rows(x),
                    .values = as_rows(values),
                    .indices = as_rows(indices),
                    .k = any.size[3],
                    .smallest = smallest == 1};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(topk, repeat, check)
