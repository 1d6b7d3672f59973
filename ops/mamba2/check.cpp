// SPDX-License-Identifier: MIT
// The checks of tk_mamba2: x, y, z [b, n, h, p], B, C [b, n, g, s], dt [b, n, h], of packed
// sequences without b; A, dt_bias [h], D [h] or [h, p]; states [b, h, p, s], one of each sequence.
#include "ops/api/entry.hpp"
#include "ops/mamba2/checks.hpp"
#include "ops/mamba2/mamba2.h"

namespace tk::api {
namespace {

constexpr auto y_is = heads_are("y", "n", "total", "h", "p");
constexpr signature final_is = state_of_heads("final_state");

checked<mamba2_problem, 12> check(tk_mamba2_problem const& given, bool data) {
  reading const how{data, be::rt::current_device()};
  bool const packed = given.starts != nullptr;
  checked<mamba2_problem, 12> result{};
  auto& [x, dt, A, B, C, D, z, dt_bias, y, initial, final, starts] = result.tensors;
  auto& problem = result.problem;
  read_mamba2_inputs({x, dt, A, B, C, D, z, dt_bias, initial, starts}, problem, given, how);
  y = read_like(given.y, y_is[packed], x, how);
  problem.final =
      read_state(final, final_is, given.final_state, problem.starts.b, x, B, packed, how);

  expect_distinct_elements(y);
  if (given.final_state) expect_distinct_elements(final);
  if (data) {
    for (auto const* input : {&x, &dt, &A, &B, &C, &D, &z, &dt_bias, &initial, &starts}) {
      expect_apart(y, *input);
      if (input != &initial || !is_same(final, initial)) expect_apart(final, *input);
    }
    expect_apart(y, final);
  }
  problem.y = as_heads(y, packed);
  problem.repeat = static_cast<repeat_kind>(given.repeat);
  // Tokens may be there without a sequence.
  result.empty = problem.x.h == 0 || problem.starts.b == 0 ||
                 (problem.x.n == 0 && given.final_state == nullptr);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(mamba2, repeat, check)
