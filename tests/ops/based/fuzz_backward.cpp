// SPDX-License-Identifier: MIT
// based_backward for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/based/based_backward.h"

#include "tests/ops/based/fuzz_inputs.hpp"

namespace fuzz {
namespace {

using namespace based;
using problem = tk_based_backward_problem;

void make(generator& g) {
  auto const x = make_based(g);
  g.tensor("dout", x.of, x.wide);
  g.tensor("dq", x.of, x.narrow);
  g.tensor("dk", x.of, x.narrow);
  g.tensor("dv", x.of, x.wide);
  for (auto const* name : {"dfinal_state", "dinitial_state"})
    choose(g, name, g.flip(), fp32, x.state);
  for (auto const* name : {"dfinal_sums", "dinitial_sums"})
    choose(g, name, wants_sums(g, x), fp32, x.sums);
  g.fields(made_up_options<problem>(g, x));
}

void look(seen_call& call) {
  look_at_based<problem>(call);
  bool const normalises = call.problem<problem>().normalise == 1;
  look_at_tokens(call, "dout", "v");
  look_at_tokens(call, "dq", "q");
  look_at_tokens(call, "dk", "k");
  look_at_tokens(call, "dv", "v");
  for (auto const* name : {"dfinal_state", "dinitial_state"})
    look_at_moments(call, name, 4, normalises);
  for (auto const* name : {"dfinal_sums", "dinitial_sums"})
    look_at_moments(call, name, 3, normalises);
  linear_attention::look_at_blocks(
      call, call.given("dinitial_state") ? "dinitial_state" : "dinitial_sums");
}

}  // namespace

fuzzed_op const& fuzzed_based_backward() {
  using o = option_field;
  static fuzzed_op const op{TK_OP_BASED_BACKWARD,
                            "tk_based_backward",
                            call_untyped<problem, tk_based_backward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"q", offsetof(problem, q)},
                             {"k", offsetof(problem, k)},
                             {"v", offsetof(problem, v)},
                             {"dout", offsetof(problem, dout)},
                             {"dq", offsetof(problem, dq), true},
                             {"dk", offsetof(problem, dk), true},
                             {"dv", offsetof(problem, dv), true},
                             {"initial_state", offsetof(problem, initial_state)},
                             {"dfinal_state", offsetof(problem, dfinal_state)},
                             {"dinitial_state", offsetof(problem, dinitial_state), true},
                             {"initial_sums", offsetof(problem, initial_sums)},
                             {"dfinal_sums", offsetof(problem, dfinal_sums)},
                             {"dinitial_sums", offsetof(problem, dinitial_sums), true},
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
