// SPDX-License-Identifier: MIT
// mamba2 for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/mamba2/mamba2.h"
#include "tests/ops/mamba2/fuzz_inputs.hpp"

namespace fuzz {
namespace {

using namespace mamba2;
using problem = tk_mamba2_problem;

void make(generator& g) {
  auto const x = make_mamba2(g);
  g.tensor("y", x.of, x.x);
  if (g.flip()) g.tensor("final_state", fp32, x.state);
  else g.leave_out("final_state");
  if (g.given("final_state") && g.flip()) g.put_on("initial_state", "final_state");
  g.fields(made_up_options<problem>(g));
}

void look(seen_call& call) {
  look_at_mamba2<problem>(call);
  look_like_x(call, "y");
  look_at_state(call, "initial_state");
  look_at_state(call, "final_state");
  auto const& x = seen(call, "x");
  std::size_t const n = call.given("starts") ? 0 : 1;
  call.empty =
      x.size[n + 1] == 0 || sequences(call) == 0 || (x.size[n] == 0 && !call.given("final_state"));
  look_at_blocks(call);
}

}  // namespace

fuzzed_op const& fuzzed_mamba2() {
  using o = option_field;
  static fuzzed_op const op{
      TK_OP_MAMBA2,
      "tk_mamba2",
      call_untyped<problem, tk_mamba2>,
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
       {"y", offsetof(problem, y), true},
       {"initial_state", offsetof(problem, initial_state), false, {"final_state"}},
       {"final_state", offsetof(problem, final_state), true},
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
