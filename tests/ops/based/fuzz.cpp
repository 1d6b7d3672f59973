// SPDX-License-Identifier: MIT
// based for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/based/based.h"

#include "tests/ops/based/fuzz_inputs.hpp"

namespace fuzz {
namespace {

using namespace based;
using problem = tk_based_problem;

void make(generator& g) {
  auto const x = make_based(g);
  g.tensor("o", x.of, x.wide);
  choose(g, "final_state", g.flip(), fp32, x.state);
  choose(g, "final_sums", wants_sums(g, x), fp32, x.sums);
  if (g.given("final_state") && g.flip()) g.put_on("initial_state", "final_state");
  if (g.given("final_sums") && g.flip()) g.put_on("initial_sums", "final_sums");
  g.fields(made_up_options<problem>(g, x));
}

void look(seen_call& call) {
  look_at_based<problem>(call);
  bool const normalises = call.problem<problem>().normalise == 1;
  look_at_tokens(call, "o", "v");
  look_at_moments(call, "final_state", 4, normalises);
  look_at_moments(call, "final_sums", 3, normalises);
  linear_attention::look_at_blocks(call, call.given("final_state") ? "final_state" : "final_sums");
}

}  // namespace

fuzzed_op const& fuzzed_based() {
  using o = option_field;
  static fuzzed_op const op{
      TK_OP_BASED,
      "tk_based",
      call_untyped<problem, tk_based>,
      sizeof(problem),
      offsetof(problem, repeat),
      {{"q", offsetof(problem, q)},
       {"k", offsetof(problem, k)},
       {"v", offsetof(problem, v)},
       {"o", offsetof(problem, o), true},
       {"initial_state", offsetof(problem, initial_state), false, {"final_state"}},
       {"final_state", offsetof(problem, final_state), true},
       {"initial_sums", offsetof(problem, initial_sums), false, {"final_sums"}},
       {"final_sums", offsetof(problem, final_sums), true},
       {"starts", offsetof(problem, starts)}},
      {{offsetof(problem, scale), o::factor},
       {offsetof(problem, normalise), o::choice, 2},
       {offsetof(problem, repeat), o::choice, 2},
       {offsetof(problem, reserved), o::reserved}},
      make,
      look};
  return op;
}

}  // namespace fuzz
