// SPDX-License-Identifier: MIT
// The checks of tk_cross_entropy: x and dx of up to four dimensions, the same sizes and one type;
// labels, loss and lse of x's sizes without the last. dx may be x itself.
#include "ops/api/entry.hpp"
#include "ops/cross_entropy/checks.hpp"
#include "ops/cross_entropy/cross_entropy.h"

namespace tk::api {
namespace {

constexpr signature x_is = logits_are("x"), dx_is = logits_are("dx");
constexpr signature loss_is = one_of_each_row("loss", fp32_only),
                    lse_is = one_of_each_row("lse", fp32_only);

checked<cross_entropy_problem, 5> check(tk_cross_entropy_problem const& given, bool data) {
  int const repeat = expect_one_of("repeat", given.repeat, repeat_names);
  expect_reserved(given.reserved);
  expect_reserved(given.reserved2, "reserved2");
  auto const terms = read_terms(given);
  if (!std::isfinite(given.dloss_scale))
    refuse(status::bad_value, "dloss_scale is ", given.dloss_scale, "; it must be finite");
  reading const how{data, be::rt::current_device()};

  checked<cross_entropy_problem, 5> result{};
  auto& [x, labels, loss, lse, dx] = result.tensors;
  x = read(given.x, x_is, how);
  labels = read_each_row(given.labels, labels_are, x, how);
  loss = read_each_row(given.loss, loss_is, x, how);
  if (given.lse) lse = read_each_row(given.lse, lse_is, x, how);
  if (given.dx) dx = read_rows_like(given.dx, dx_is, x, how);

  for (auto const* output : {&loss, &lse, &dx}) {
    if (!output->is) continue;
    expect_distinct_elements(*output);
    if (!data) continue;
    if (output != &dx || !is_same(dx, x)) expect_apart(*output, x);
    expect_apart(*output, labels);
  }
  if (data) {
    expect_apart(loss, lse);
    expect_apart(loss, dx);
    expect_apart(lse, dx);
  }

  result.empty = !has_rows(x);
  result.problem = {.x = as_rows(x),
                    .dx = as_rows(dx),
                    .labels = as_rows(labels),
                    .loss = as_rows(loss),
                    .lse = as_rows(lse),
                    .terms = terms,
                    .dloss_scale = given.dloss_scale,
                    .repeat = static_cast<repeat_kind>(repeat)};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(cross_entropy, repeat, check)
