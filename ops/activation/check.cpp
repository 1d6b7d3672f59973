// SPDX-License-Identifier: MIT
// The checks of tk_activation: a, b and y of up to four dimensions, the same sizes and one type. y
// may be a or b itself. Interleaved, a is twice as wide, and y apart from it.
#include "ops/activation/activation.h"
#include "ops/activation/interleaved.hpp"
#include "ops/activation/problem.hpp"
#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"

namespace tk::api {
namespace {

static_assert(alike(TK_ACTIVATION_NONE, activation_kind::none) &&
              alike(TK_ACTIVATION_RELU, activation_kind::relu) &&
              alike(TK_ACTIVATION_SILU, activation_kind::silu) &&
              alike(TK_ACTIVATION_GELU_TANH, activation_kind::gelu_tanh) &&
              alike(TK_ACTIVATION_GELU_ERF, activation_kind::gelu_erf) &&
              alike(TK_ACTIVATION_SIGMOID, activation_kind::sigmoid));

constexpr signature a_is = rows_are("a"), b_is = rows_are("b"), y_is = rows_are("y"),
                    pairs_is = pairs_are("a");

checked<activation_problem, 3> check(tk_activation_problem const& given, bool data) {
  int const kind = expect_one_of("kind", given.kind, activation_names);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved_kind, "reserved_kind");
  expect_reserved(given.reserved);
  bool const interleaved = expect_one_of("interleaved", given.interleaved, flag_names) != 0;
  expect_reserved(given.reserved_interleaved, "reserved_interleaved");
  if (interleaved && given.b) refuse_beside_interleaved("b");
  reading const how{data, be::rt::current_device()};

  checked<activation_problem, 3> result{};
  auto& [a, b, y] = result.tensors;
  a = interleaved ? read_pairs(given.a, pairs_is, how) : read(given.a, a_is, how);
  if (given.b) b = read_rows_like(given.b, b_is, a, how);
  y = interleaved ? read_one_of_each_pair(given.y, y_is, a, how)
                  : read_rows_like(given.y, y_is, a, how);

  expect_distinct_elements(y);
  for (auto const* input : {&a, &b})
    if (data && (interleaved || !is_same(y, *input))) expect_apart(y, *input);

  result.empty = !has_elements(a);
  result.problem = {.a = as_rows(a),
                    .b = as_rows(b),
                    .y = as_rows(y),
                    .kind = static_cast<activation_kind>(kind),
                    .interleaved = interleaved};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(activation, repeat, check)
