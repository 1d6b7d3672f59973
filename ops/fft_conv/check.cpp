// SPDX-License-Identifier: MIT
// The checks of tk_fft_conv.
#include "ops/api/entry.hpp"
#include "ops/fft_conv/checks.hpp"
#include "ops/fft_conv/fft_conv.h"

namespace tk::api {
namespace {

constexpr signature y_is = sequences_are("y");

checked<fft_conv_problem, 5> check(tk_fft_conv_problem const& given, bool data) {
  expect_one_of("repeat", given.repeat, repeat_names);  // elements are alike either way
  expect_reserved(given.reserved);
  reading const how{data, be::rt::current_device()};

  checked<fft_conv_problem, 5> result{};
  auto& [u, k, y, pre, post] = result.tensors;
  auto& problem = result.problem;
  static_cast<fft_conv_operands&>(problem) = read_operands(
      {u, k, pre, post},
      {given.u, given.k, given.pre, given.post, given.circular, given.filter_is_ready}, how);
  y = read_sequences(given.y, y_is, u, how);
  problem.y = as_sequences(y);

  expect_distinct_elements(y);
  if (data)
    for (auto const* input : {&u, &k, &pre, &post}) expect_apart(y, *input);
  result.empty = problem.u.b == 0 || problem.u.h == 0 || problem.u.n == 0;
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(fft_conv, repeat, check)
