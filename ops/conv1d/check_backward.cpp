// SPDX-License-Identifier: MIT
// The checks of tk_conv1d_backward.
#include "ops/api/entry.hpp"
#include "ops/conv1d/checks.hpp"
#include "ops/conv1d/conv1d_backward.h"

namespace tk::api {
namespace {

constexpr signature dy_is = tokens_are("dy"), dx_is = tokens_are("dx"),
                    dfinal_is = state_is("dfinal_state"), dinitial_is = state_is("dinitial_state"),
                    dweight_is = taps_are("dweight"), dbias_is = channels_are("dbias");

checked<conv1d_backward_problem, 11> check(tk_conv1d_backward_problem const& given, bool data) {
  expect_one_of("repeat", given.repeat, repeat_names);  // elements are alike either way
  expect_reserved(given.reserved_activation, "reserved_activation");
  expect_reserved(given.reserved);
  reading const how{data, be::rt::current_device()};

  checked<conv1d_backward_problem, 11> result{};
  auto& [x, weight, bias, dy, initial, dfinal, starts, dx, dweight, dbias, dinitial] =
      result.tensors;
  auto& to = result.problem;
  static_cast<conv1d_operands&>(to) = read_operands(
      {x, weight, bias, initial, starts},
      {given.x, given.weight, given.bias, given.initial_state, given.starts, given.activation},
      how);
  dy = read_tokens(given.dy, dy_is, x, how);
  if (given.dfinal_state) dfinal = read_state(given.dfinal_state, dfinal_is, to, x, how);
  dx = read_tokens(given.dx, dx_is, x, how);
  if (given.dweight) {
    dweight = read_taps(given.dweight, dweight_is, x, how);
    expect_same_size(dweight, 1, weight, 1);
  }
  if (given.dbias) dbias = read_channels(given.dbias, dbias_is, x, how);
  if (given.dweight && given.dbias) expect_same_type(dbias, dweight);
  if (given.dinitial_state) dinitial = read_state(given.dinitial_state, dinitial_is, to, x, how);
  to.dy = as_tokens(dy);
  to.dfinal = as_tokens(dfinal);
  to.dx = as_tokens(dx);
  to.dinitial = as_tokens(dinitial);
  to.dweight = as_any(dweight);
  to.dbias = as_any(dbias);

  std::array const outputs{&dx, &dweight, &dbias, &dinitial};
  for (auto const* output : outputs)
    if (output->is) expect_distinct_elements(*output);
  if (data)
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      for (auto const* input : {&x, &weight, &bias, &dy, &initial, &dfinal, &starts})
        expect_apart(*outputs[i], *input);
      for (std::size_t j = i + 1; j < outputs.size(); ++j) expect_apart(*outputs[i], *outputs[j]);
    }

  bool const sums = given.dweight || given.dbias;
  bool const rows = to.sequences > 0 && (to.x.rows > 0 || given.dinitial_state);
  result.empty = to.channels() == 0 || (!rows && !sums);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(conv1d_backward, repeat, check)
