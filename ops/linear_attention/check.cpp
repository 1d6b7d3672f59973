// SPDX-License-Identifier: MIT
// The checks of tk_linear_attention: q, k [b, n, h, d], v, o [b, n, h, dv], of packed sequences
// without b; log_decay [b, n, h] or decay [h]; states [b, h, d, dv], one of each sequence.
#include "ops/api/entry.hpp"
#include "ops/linear_attention/checks.hpp"
#include "ops/linear_attention/linear_attention.h"

namespace tk::api {
namespace {

constexpr auto q_is = heads_are("q", "n", "total", "h", "d"),
               k_is = heads_are("k", "n", "total", "h", "d"),
               v_is = heads_are("v", "n", "total", "h", "dv"),
               o_is = heads_are("o", "n", "total", "h", "dv");
constexpr signature initial_is = state_is("initial_state", "d", "dv"),
                    final_is = state_is("final_state", "d", "dv");

checked<linear_attention_problem, 9> check(tk_linear_attention_problem const& given, bool data) {
  int const repeat = expect_one_of("repeat", given.repeat, repeat_names);
  expect_reserved(given.reserved2, "reserved2");
  expect_reserved(given.reserved);
  expect_scale(given.scale);
  reading const how{data, be::rt::current_device()};
  bool const packed = given.starts != nullptr;

  checked<linear_attention_problem, 9> result{};
  auto& [q, k, v, o, log_decay, decay, initial, final, starts] = result.tensors;
  auto& problem = result.problem;
  q = read(given.q, q_is[packed], how);
  k = read(given.k, k_is[packed], how);
  v = read(given.v, v_is[packed], how);
  expect_token_shapes({q, k, v}, packed);
  o = read_like(given.o, o_is[packed], v, how);
  decay_views decays;
  problem.decays = read_decays(decays, given.log_decay, given.decay, v, packed, how);
  log_decay = decays.log_decay;
  decay = decays.decay;
  problem.starts = read_starts(starts, given.starts, q, how);
  auto const state = [&](view& to, signature const& is, DLTensor const* tensor) {
    return read_state(to, is, tensor, problem.starts.b, q, v, packed, how);
  };
  problem.initial = state(initial, initial_is, given.initial_state);
  problem.final = state(final, final_is, given.final_state);

  expect_distinct_elements(o);
  if (given.final_state) expect_distinct_elements(final);
  if (data) {
    for (auto const* input : {&q, &k, &v, &log_decay, &decay, &initial, &starts}) {
      expect_apart(o, *input);
      if (input != &initial || !is_same(final, initial)) expect_apart(final, *input);
    }
    expect_apart(o, final);
  }
  problem.q = as_heads(q, packed);
  problem.k = as_heads(k, packed);
  problem.v = as_heads(v, packed);
  problem.o = as_heads(o, packed);
  problem.scale = given.scale;
  problem.repeat = static_cast<repeat_kind>(repeat);
  bool const states = given.final_state != nullptr;
  // Tokens may be there without a sequence.
  result.empty = problem.q.h == 0 || problem.starts.b == 0 || (problem.q.n == 0 && !states);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(linear_attention, repeat, check)
