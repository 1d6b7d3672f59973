// SPDX-License-Identifier: MIT
// The checks of tk_cross_entropy_backward: x and dx of up to four dimensions, the same sizes and
// one type; labels, lse and dloss of x's sizes without the last. dx may be x itself.
#include "ops/api/entry.hpp"
#include "ops/cross_entropy/checks.hpp"
#include "ops/cross_entropy/cross_entropy_backward.h"

namespace tk::api {
namespace {

constexpr signature x_is = logits_are("x"), dx_is = logits_are("dx");
constexpr signature lse_is = one_of_each_row("lse", fp32_only),
                    dloss_is = one_of_each_row("dloss", fp32_only);

checked<cross_entropy_backward_problem, 5> check(tk_cross_entropy_backward_problem const& given,
                                                 bool data) {
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  auto const terms = read_terms(given);
  reading const how{data, be::rt::current_device()};

  checked<cross_entropy_backward_problem, 5> result{};
  auto& [x, labels, lse, dloss, dx] = result.tensors;
  x = read(given.x, x_is, how);
  labels = read_each_row(given.labels, labels_are, x, how);
  lse = read_each_row(given.lse, lse_is, x, how);
  dloss = read_each_row(given.dloss, dloss_is, x, how);
  dx = read_rows_like(given.dx, dx_is, x, how);

  expect_distinct_elements(dx);
  if (data) {
    if (!is_same(dx, x)) expect_apart(dx, x);
    for (auto const* input : {&labels, &lse, &dloss}) expect_apart(dx, *input);
  }

  result.empty = !has_rows(x);
  result.problem = {.x = as_rows(x),
                    .dx = as_rows(dx),
                    .labels = as_rows(labels),
                    .lse = as_rows(lse),
                    .dloss = as_rows(dloss),
                    .terms = terms};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(cross_entropy_backward, repeat, check)
