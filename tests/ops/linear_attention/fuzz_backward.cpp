// SPDX-License-Identifier: MIT
// linear_attention_backward for the fuzzer: its fields, correct problems, and what is wrong with
// others.
#include "ops/linear_attention/linear_attention_backward.h"
#include "tests/ops/linear_attention/fuzz_inputs.hpp"

namespace fuzz {
namespace {

using namespace linear_attention;
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
  auto const choose = [&](char const* name, decay_kind of, sizes const& shape) {
    bool const wanted = g.number(0, 15) == 0 || (x.decays == of && g.flip());
    if (wanted) g.tensor(name, fp32, shape);
    else g.leave_out(name);
  };
  choose("dlog_decay", decay_kind::of_tokens, x.tokens);
  choose("ddecay", decay_kind::of_heads, {x.state[1]});
  problem p{};
  p.scale = made_up_scale(g);
  put(p.repeat, g.flip());
  g.fields(p);
}

// Like its decay, which must be there.
void look_at_decay_gradient(seen_call& call, char const* name, char const* of, int rank) {
  if (!call.given(name)) return;
  call.by_query.add(!call.given(of), TK_NULL_POINTER);
  if (!call.given(of)) return;
  auto const& decay = seen(call, of);
  call.read(name, {rank, rank, takes_fp32, true});
  for (int axis = 0; axis < rank; ++axis)
    same_size(call.by_query, seen(call, name), axis, decay, axis);
}

void look(seen_call& call) {
  look_at_scan(call, call.problem<problem>().scale);
  look_at_tokens(call, "dout", "v");
  look_at_tokens(call, "dq", "q");
  look_at_tokens(call, "dk", "k");
  look_at_tokens(call, "dv", "v");
  for (auto const* name : {"initial_state", "dfinal_state", "dinitial_state"})
    look_at_state(call, name);
  look_at_decay_gradient(call, "dlog_decay", "log_decay", call.given("starts") ? 2 : 3);
  look_at_decay_gradient(call, "ddecay", "decay", 1);
  look_at_blocks(call, "dinitial_state", call.given("ddecay"));
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
                             {"dlog_decay", offsetof(problem, dlog_decay), true},
                             {"ddecay", offsetof(problem, ddecay), true},
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
