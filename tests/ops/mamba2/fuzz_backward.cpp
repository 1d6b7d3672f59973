// SPDX-License-Identifier: MIT
// mamba2_backward for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/mamba2/mamba2_backward.h"
#include "tests/ops/mamba2/fuzz_inputs.hpp"

namespace fuzz {
namespace {

using namespace mamba2;
using problem = tk_mamba2_backward_problem;

void make(generator& g) {
  auto const x = make_mamba2(g);
  g.tensor("dy", x.of, x.x);
  g.tensor("dx", x.of, x.x);
  g.tensor("ddt", x.of_steps, x.dt);
  g.tensor("dA", fp32, x.A);
  g.tensor("dB", x.of, x.B);
  g.tensor("dC", x.of, x.B);
  auto const choose = [&](char const* name, char const* of, type what, sizes const& shape) {
    bool const wanted = g.number(0, 15) == 0 || (g.given(of) && g.flip());
    if (wanted) g.tensor(name, what, shape);
    else g.leave_out(name);
  };
  choose("dD", "D", fp32, x.D);
  choose("dz", "z", x.of, x.x);
  choose("ddt_bias", "dt_bias", fp32, x.A);
  for (auto const* name : {"dfinal_state", "dinitial_state"}) {
    if (g.flip()) g.tensor(name, fp32, x.state);
    else g.leave_out(name);
  }
  g.fields(made_up_options<problem>(g));
}

// Is it given, with what it is of?
bool look_at_optional(seen_call& call, char const* name, char const* of) {
  if (!call.given(name)) return false;
  call.by_query.add(!call.given(of), TK_NULL_POINTER);
  return call.given(of);
}

void look(seen_call& call) {
  look_at_mamba2<problem>(call);
  look_like_x(call, "dy");
  look_like_x(call, "dx");
  look_like(call, "ddt", "dt", rank_of_tokens(call) - 1, takes_halves | takes_fp32, true);
  same_type(call.by_query, seen(call, "ddt"), seen(call, "dt"));
  look_like(call, "dA", "A", 1, takes_fp32, true);
  look_like_x(call, "dB", "B");
  look_like_x(call, "dC", "B");
  if (look_at_optional(call, "dD", "D"))
    look_like(call, "dD", "D", call.spec->tensors[call.index("D")].ndim == 1 ? 1 : 2, takes_fp32,
              true);
  if (look_at_optional(call, "dz", "z")) look_like_x(call, "dz");
  if (look_at_optional(call, "ddt_bias", "dt_bias"))
    look_like(call, "ddt_bias", "dt_bias", 1, takes_fp32, true);
  for (auto const* name : {"initial_state", "dfinal_state", "dinitial_state"})
    look_at_state(call, name);
  call.empty = seen(call, "x").size[call.given("starts") ? 1 : 2] == 0;
  look_at_blocks(call);
}

}  // namespace

fuzzed_op const& fuzzed_mamba2_backward() {
  using o = option_field;
  static fuzzed_op const op{TK_OP_MAMBA2_BACKWARD,
                            "tk_mamba2_backward",
                            call_untyped<problem, tk_mamba2_backward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"x", offsetof(problem, x)},
                             {"dt", offsetof(problem, dt)},
                             {"A", offsetof(problem, A)},
                             {"B", offsetof(problem, B)},
                             {"C", offsetof(problem, C)},
                             {"D", offsetof(problem, D)},
                             {"z", offsetof(problem, z)},
                             {"dt_bias", offsetof(problem, dt_bias)},
                             {"dy", offsetof(problem, dy)},
                             {"dx", offsetof(problem, dx), true},
                             {"ddt", offsetof(problem, ddt), true},
                             {"dA", offsetof(problem, dA), true},
                             {"dB", offsetof(problem, dB), true},
                             {"dC", offsetof(problem, dC), true},
                             {"dD", offsetof(problem, dD), true},
                             {"dz", offsetof(problem, dz), true},
                             {"ddt_bias", offsetof(problem, ddt_bias), true},
                             {"initial_state", offsetof(problem, initial_state)},
                             {"dfinal_state", offsetof(problem, dfinal_state)},
                             {"dinitial_state", offsetof(problem, dinitial_state), true},
                             {"starts", offsetof(problem, starts)}},
                            {{offsetof(problem, dt_min), o::factor},
                             {offsetof(problem, dt_max), o::factor},
                             {offsetof(problem, dt_softplus), o::choice, 2},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved},
                             {offsetof(problem, reserved2), o::reserved}},
                            make,
                            look};
  return op;
}

}  // namespace fuzz
