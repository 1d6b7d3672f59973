// SPDX-License-Identifier: MIT
// linear_attention_backward for the fuzzer: its fields, correct problems, and what is wrong with
// others.
#include "ops/linear_attention/linear_attention_backward.h"
#include "tests/ops/linear_attention/fuzz_inputs.hpp"

namespace fuzz {
namespace {

using problem = tk_linear_attention_backward_problem;

void make(generator& g) {
  auto const x = make_scan(g);
  g.tensor("dout", x.of, x.wide);
  g.tensor("dq", x.of, x.narrow);
  g.tensor("dk", x.of, x.narrow);
  g.tensor("dv", x.of, x.wide);
  for (auto const* name : {"dfinal_state", "dinitial_state"}) {
    if (g.flip()) g.tensor(name, fp32, x.state);
    else g.leave_out(name);
  }
  problem p{};
  p.scale = made_up_scale(g);
  put(p.repeat, g.flip());
  g.fields(p);
}

void look(seen_call& call) {
  look_at_scan(call, call.problem<problem>().scale);
  look_at_tokens(call, "dout", "v");
  look_at_tokens(call, "dq", "q");
  look_at_tokens(call, "dk", "k");
  look_at_tokens(call, "dv", "v");
  for (auto const* name : {"initial_state", "dfinal_state", "dinitial_state"})
    look_at_state(call, name);
  look_at_blocks(call, "dinitial_state");
}

}  // namespace

fuzzed_op const& fuzzed_linear_attention_backward() {
  using o = option_field;
  static fuzzed_op const op{TK_OP_LINEAR_ATTENTION_BACKWARD,
                            "tk_linear_attention_backward",
                            call_untyped<problem, tk_linear_attention_backward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"q", offsetof(problem, q)},
                             {"k", offsetof(problem, k)},
                             {"v", offsetof(problem, v)},
                             {"dout", offsetof(problem, dout)},
                             {"dq", offsetof(problem, dq), true},
                             {"dk", offsetof(problem, dk), true},
                             {"dv", offsetof(problem, dv), true},
                             {"log_decay", offsetof(problem, log_decay)},
                             {"decay", offsetof(problem, decay)},
                             {"initial_state", offsetof(problem, initial_state)},
                             {"dfinal_state", offsetof(problem, dfinal_state)},
                             {"dinitial_state", offsetof(problem, dinitial_state), true},
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
