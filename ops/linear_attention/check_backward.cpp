// SPDX-License-Identifier: MIT
// The checks of tk_linear_attention_backward: those of the forward, and gradients like what they
// are of.
#include "ops/api/entry.hpp"
#include "ops/linear_attention/checks.hpp"
#include "ops/linear_attention/linear_attention_backward.h"

namespace tk::api {
namespace {

constexpr auto q_is = heads_are("q", "n", "total", "h", "d"),
               k_is = heads_are("k", "n", "total", "h", "d"),
               v_is = heads_are("v", "n", "total", "h", "dv"),
               dout_is = heads_are("dout", "n", "total", "h", "dv"),
               dq_is = heads_are("dq", "n", "total", "h", "d"),
               dk_is = heads_are("dk", "n", "total", "h", "d"),
               dv_is = heads_are("dv", "n", "total", "h", "dv");
constexpr signature initial_is = state_is("initial_state", "d", "dv"),
                    dfinal_is = state_is("dfinal_state", "d", "dv"),
                    dinitial_is = state_is("dinitial_state", "d", "dv");

constexpr std::size_t tensors = 15;

checked<linear_attention_backward_problem, tensors> check(
    tk_linear_attention_backward_problem const& given, bool data) {
  expect_one_of("repeat", given.repeat, repeat_names);  // tokens are alike either way
  expect_reserved(given.reserved2, "reserved2");
  expect_reserved(given.reserved);
  expect_scale(given.scale);
  reading const how{data, be::rt::current_device()};
  bool const packed = given.starts != nullptr;

  checked<linear_attention_backward_problem, tensors> result{};
  auto& [q, k, v, dout, dq, dk, dv, log_decay, decay, initial, dfinal, dinitial, dlog_decay, ddecay,
         starts] = result.tensors;
  auto& problem = result.problem;
  q = read(given.q, q_is[packed], how);
  k = read(given.k, k_is[packed], how);
  v = read(given.v, v_is[packed], how);
  expect_token_shapes({q, k, v}, packed);
  dout = read_like(given.dout, dout_is[packed], v, how);
  dq = read_like(given.dq, dq_is[packed], q, how);
  dk = read_like(given.dk, dk_is[packed], k, how);
  dv = read_like(given.dv, dv_is[packed], v, how);
  decay_views decays;
  problem.decays = read_decays(decays, given.log_decay, given.decay, v, packed, how);
  log_decay = decays.log_decay;
  decay = decays.decay;
  problem.starts = read_starts(starts, given.starts, q, how);
  auto const state = [&](view& to, signature const& is, DLTensor const* tensor) {
    return read_state(to, is, tensor, problem.starts.b, q, v, packed, how);
  };
  problem.initial = state(initial, initial_is, given.initial_state);
  problem.dfinal = state(dfinal, dfinal_is, given.dfinal_state);
  problem.dinitial = state(dinitial, dinitial_is, given.dinitial_state);
  decay_views ddecays;
  problem.ddecays =
      read_decay_gradients(ddecays, given.dlog_decay, given.ddecay, decays, packed, how);
  dlog_decay = ddecays.log_decay;
  ddecay = ddecays.decay;

  view const* const outputs[] = {&dq, &dk, &dv, &dinitial, &dlog_decay, &ddecay};
  for (auto const* output : outputs)
    if (output->is) expect_distinct_elements(*output);
  if (data) {
    for (auto const* output : outputs) {
      for (auto const* input : {&q, &k, &v, &dout, &log_decay, &decay, &initial, &dfinal, &starts})
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
  bool const states = given.dinitial_state && problem.starts.b > 0,
             tokens = problem.q.n > 0 && problem.starts.b > 0;
  result.empty = problem.q.h == 0 || !(tokens || states || given.ddecay);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(linear_attention_backward, repeat, check)
