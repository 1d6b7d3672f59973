// SPDX-License-Identifier: MIT
// linear_attention for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/linear_attention/linear_attention.h"
#include "tests/ops/linear_attention/fuzz_inputs.hpp"

namespace fuzz {
namespace {

using namespace linear_attention;
using problem = tk_linear_attention_problem;

void make(generator& g) {
  auto const x = make_scan(g);
  g.tensor("o", x.of, x.wide);
  if (g.flip()) g.tensor("final_state", fp32, x.state);
  else g.leave_out("final_state");
  if (g.given("final_state") && g.flip()) g.put_on("initial_state", "final_state");
  problem p{};
  p.scale = made_up_scale(g);
  put(p.repeat, g.flip());
  g.fields(p);
}

void look(seen_call& call) {
  look_at_scan(call, call.problem<problem>().scale);
  look_at_tokens(call, "o", "v");
  look_at_state(call, "initial_state");
  look_at_state(call, "final_state");
  look_at_blocks(call, "final_state");
}

}  // namespace

fuzzed_op const& fuzzed_linear_attention() {
  using o = option_field;
  static fuzzed_op const op{
      TK_OP_LINEAR_ATTENTION,
      "tk_linear_attention",
      call_untyped<problem, tk_linear_attention>,
      sizeof(problem),
      offsetof(problem, repeat),
      {{"q", offsetof(problem, q)},
       {"k", offsetof(problem, k)},
       {"v", offsetof(problem, v)},
       {"o", offsetof(problem, o), true},
       {"log_decay", offsetof(problem, log_decay)},
       {"decay", offsetof(problem, decay)},
       {"initial_state", offsetof(problem, initial_state), false, {"final_state"}},
       {"final_state", offsetof(problem, final_state), true},
       {"starts", offsetof(problem, starts)}},
      {{offsetof(problem, scale), o::factor},
       {offsetof(problem, repeat), o::choice, 2},
       {offsetof(problem, reserved), o::reserved},
       {offsetof(problem, reserved2), o::reserved}},
      make,
      look};
  return op;
}

}  // namespace fuzz
