// SPDX-License-Identifier: MIT
// The checks of tk_based_backward: those of the forward, and gradients like what they are of.
#include "ops/api/entry.hpp"
#include "ops/based/based_backward.h"
#include "ops/based/checks.hpp"

namespace tk::api {
namespace {

constexpr auto q_is = heads_are("q", "n", "total", "h", "d"),
               k_is = heads_are("k", "n", "total", "h", "d"),
               v_is = heads_are("v", "n", "total", "h", "dv"),
               dout_is = heads_are("dout", "n", "total", "h", "dv"),
               dq_is = heads_are("dq", "n", "total", "h", "d"),
               dk_is = heads_are("dk", "n", "total", "h", "d"),
               dv_is = heads_are("dv", "n", "total", "h", "dv");
constexpr signature initial_is = moments_are("initial_state"),
                    dfinal_is = moments_are("dfinal_state"),
                    dinitial_is = moments_are("dinitial_state"),
                    initial_sums_are = sums_are("initial_sums"),
                    dfinal_sums_are = sums_are("dfinal_sums"),
                    dinitial_sums_are = sums_are("dinitial_sums");

constexpr std::size_t tensors = 14;

checked<based_backward_problem, tensors> check(tk_based_backward_problem const& given, bool data) {
  expect_one_of("repeat", given.repeat, repeat_names);  // tokens are alike either way
  expect_one_of("normalise", given.normalise, flag_names);
  expect_reserved(given.reserved);
  expect_based_scale(given.scale);
  reading const how{data, be::rt::current_device()};
  bool const packed = given.starts != nullptr;

  checked<based_backward_problem, tensors> result{};
  auto& [q, k, v, dout, dq, dk, dv, initial, dfinal, dinitial, initial_sums, dfinal_sums,
         dinitial_sums, starts] = result.tensors;
  auto& problem = result.problem;
  q = read(given.q, q_is[packed], how);
  k = read(given.k, k_is[packed], how);
  v = read(given.v, v_is[packed], how);
  expect_width(q, packed);
  expect_token_shapes({q, k, v}, packed);
  dout = read_like(given.dout, dout_is[packed], v, how);
  dq = read_like(given.dq, dq_is[packed], q, how);
  dk = read_like(given.dk, dk_is[packed], k, how);
  dv = read_like(given.dv, dv_is[packed], v, how);
  problem.starts = read_starts(starts, given.starts, q, how);
  problem.normalises = given.normalise != 0;
  auto const state = [&](view& to, signature const& is, DLTensor const* tensor) {
    return read_moment_state(to, is, tensor, problem.starts.b, v, packed, how);
  };
  auto const sums = [&](view& to, signature const& is, DLTensor const* tensor) {
    return read_moment_sums(to, is, tensor, problem.normalises, problem.starts.b, v, packed, how);
  };
  problem.initial = state(initial, initial_is, given.initial_state);
  problem.dfinal = state(dfinal, dfinal_is, given.dfinal_state);
  problem.dinitial = state(dinitial, dinitial_is, given.dinitial_state);
  problem.initial_sums = sums(initial_sums, initial_sums_are, given.initial_sums);
  problem.dfinal_sums = sums(dfinal_sums, dfinal_sums_are, given.dfinal_sums);
  problem.dinitial_sums = sums(dinitial_sums, dinitial_sums_are, given.dinitial_sums);

  view const* const outputs[] = {&dq, &dk, &dv, &dinitial, &dinitial_sums};
  for (auto const* output : outputs)
    if (output->is) expect_distinct_elements(*output);
  if (data) {
    for (auto const* output : outputs) {
      for (auto const* input :
           {&q, &k, &v, &dout, &initial, &dfinal, &initial_sums, &dfinal_sums, &starts})
        expect_apart(*output, *input);
      for (auto const* other : outputs)
        if (other > output) expect_apart(*output, *other);
    }
  }
  problem.q = as_heads(q, packed);
  problem.k = as_heads(k, packed);
  problem.v = as_heads(v, packed);
  problem.dout = as_heads(dout, packed);
  problem.dq = as_heads(dq, packed);
  problem.dk = as_heads(dk, packed);
  problem.dv = as_heads(dv, packed);
  problem.scale = given.scale;
  // Tokens may be there without a sequence.
  bool const states = given.dinitial_state || given.dinitial_sums;
  result.empty = problem.q.h == 0 || problem.starts.b == 0 || (problem.q.n == 0 && !states);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(based_backward, repeat, check)
