// SPDX-License-Identifier: MIT
// The checks of tk_conv1d. final_state may be initial_state itself.
#include "ops/api/entry.hpp"
#include "ops/conv1d/checks.hpp"
#include "ops/conv1d/conv1d.h"

namespace tk::api {
namespace {

constexpr signature y_is = tokens_are("y"), final_is = state_is("final_state");

checked<conv1d_problem, 7> check(tk_conv1d_problem const& given, bool data) {
  expect_one_of("repeat", given.repeat, repeat_names);  // elements are alike either way
  expect_reserved(given.reserved_activation, "reserved_activation");
  expect_reserved(given.reserved);
  reading const how{data, be::rt::current_device()};

  checked<conv1d_problem, 7> result{};
  auto& [x, weight, bias, y, initial, final, starts] = result.tensors;
  auto& to = result.problem;
  static_cast<conv1d_operands&>(to) = read_operands(
      {x, weight, bias, initial, starts},
      {given.x, given.weight, given.bias, given.initial_state, given.starts, given.activation},
      how);
  y = read_tokens(given.y, y_is, x, how);
  if (given.final_state) final = read_state(given.final_state, final_is, to, x, how);
  to.y = as_tokens(y);
  to.final = as_tokens(final);

  for (auto const* output : {&y, &final}) {
    if (!output->is) continue;
    expect_distinct_elements(*output);
    if (!data) continue;
    for (auto const* input : {&x, &weight, &bias, &initial, &starts})
      if (output != &final || input != &initial || !is_same(final, initial))
        expect_apart(*output, *input);
  }
  if (data && given.final_state) expect_apart(final, y);

  result.empty = to.channels() == 0 || to.sequences == 0 || (to.x.rows == 0 && !given.final_state);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(conv1d, repeat, check)
