// SPDX-License-Identifier: MIT
// The checks of tk_linear_cross_entropy: x [rows, d] and w [vocab, d] of one type, gradients of
// their sizes in that type or fp32; labels, loss and lse of as many numbers as x has rows. All
// outputs are apart from everything else.
#include "ops/api/entry.hpp"
#include "ops/cross_entropy/checks.hpp"
#include "ops/linear_cross_entropy/linear_cross_entropy.h"
#include "ops/linear_cross_entropy/problem.hpp"

namespace tk::api {
namespace {

constexpr signature of_rows(char const* name, unsigned types) {
  return {name, types, 2, 2, {"rows", "d"}};
}
constexpr signature of_vocab(char const* name, unsigned types) {
  return {name, types, 2, 2, {"vocab", "d"}};
}
constexpr signature numbers(char const* name, unsigned types) {
  return {name, types, 1, 1, {"rows"}, true};
}
constexpr signature x_is = of_rows("x", halves), dx_is = of_rows("dx", any_type),
                    w_is = of_vocab("w", halves), dw_is = of_vocab("dw", any_type);
constexpr signature of_labels = numbers("labels", integers), loss_is = numbers("loss", fp32_only),
                    lse_is = numbers("lse", fp32_only);

view read_numbers(DLTensor const* given, signature const& is, view const& x, reading const& how) {
  view const y = read(given, is, how);
  expect_same_size(y, 0, x, 0);
  return y;
}
view read_gradient(DLTensor const* given, signature const& is, view const& of, reading const& how) {
  view const y = read(given, is, how);
  if (y.type != element::fp32) expect_same_type(y, of);
  for (int axis = 0; axis < 2; ++axis) expect_same_size(y, axis, of, axis);
  return y;
}

matrix as_matrix(view const& x) {
  return {{x.data, x.type}, 1, x.size[0], x.size[1], 0, x.stride[0]};
}
row_tensor_view as_numbers(view const& x) {
  return {{x.data, x.type}, 1, 1, x.size[0], 1, 0, 0, x.stride[0]};
}

checked<linear_cross_entropy_problem, 7> check(tk_linear_cross_entropy_problem const& given,
                                               bool data) {
  int const repeat = expect_one_of("repeat", given.repeat, repeat_names);
  expect_reserved(given.reserved);
  expect_reserved(given.reserved2, "reserved2");
  auto const terms = read_terms(given);
  if (!std::isfinite(given.dloss_scale))
    refuse(status::bad_value, "dloss_scale is ", given.dloss_scale, "; it must be finite");
  if (given.chunk_rows < 0)
    refuse(status::bad_value, "chunk_rows is ", given.chunk_rows, "; it must be 0 or more");
  reading const how{data, be::rt::current_device()};

  checked<linear_cross_entropy_problem, 7> result{};
  auto& [x, w, labels, loss, lse, dx, dw] = result.tensors;
  x = read(given.x, x_is, how);
  w = read(given.w, w_is, how);
  expect_same_type(w, x);
  expect_same_size(w, 1, x, 1);
  labels = read_numbers(given.labels, of_labels, x, how);
  loss = read_numbers(given.loss, loss_is, x, how);
  if (given.lse) lse = read_numbers(given.lse, lse_is, x, how);
  if (given.dx) dx = read_gradient(given.dx, dx_is, x, how);
  if (given.dw) dw = read_gradient(given.dw, dw_is, w, how);

  view const* const outputs[] = {&loss, &lse, &dx, &dw};
  for (auto const* output : outputs) {
    if (!output->is) continue;
    expect_distinct_elements(*output);
    if (!data) continue;
    for (auto const* input : {&x, &w, &labels}) expect_apart(*output, *input);
    for (auto const* other : outputs)
      if (other < output && other->is) expect_apart(*output, *other);
  }

  bool const writes_dw = given.dw && dw.size[0] != 0 && dw.size[1] != 0;
  result.empty = x.size[0] == 0 && !writes_dw;
  result.problem = {.x = as_matrix(x),
                    .w = as_matrix(w),
                    .dx = as_matrix(dx),
                    .dw = as_matrix(dw),
                    .labels = as_numbers(labels),
                    .loss = as_numbers(loss),
                    .lse = as_numbers(lse),
                    .has_dx = given.dx != nullptr,
                    .has_dw = given.dw != nullptr,
                    .terms = terms,
                    .dloss_scale = given.dloss_scale,
                    .chunk_rows = given.chunk_rows,
                    .repeat = static_cast<repeat_kind>(repeat)};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(linear_cross_entropy, repeat, check)
