// SPDX-License-Identifier: MIT
// hedgehog for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/hedgehog/hedgehog.h"
#include "tests/ops/hedgehog/fuzz_shapes.hpp"

namespace fuzz {
namespace {

using namespace hedgehog;
using problem = tk_hedgehog_problem;

void make(generator& g) {
  auto const x = make_inputs(g);
  bool const final = g.number(0, 3) == 0;
  choose(g, "final_kv", final, fp32, x.kv);
  choose(g, "final_k", final, fp32, x.k);
  if (g.given("initial_kv") && final && g.number(0, 3)) {
    g.put_on("initial_kv", "final_kv");
    g.put_on("initial_k", "final_k");
  }
  choose(g, "normaliser", g.flip(), fp32, x.numbers);
  problem p{};
  p.scale = static_cast<float>(g.number(1, 8)) / 8;
  put(p.repeat, g.flip());
  g.fields(p);
}

void look(seen_call& call) {
  look_at_inputs(call, call.problem<problem>().scale);
  if (call.given("normaliser")) look_at_normaliser(call);
  look_at_states(call, "final_kv", "final_k");
  auto const &q = seen(call, "q"), &k = seen(call, "k");
  if (!known(call) || !k.shaped) return;
  std::size_t const n = call.given("starts") ? 0 : 1;
  call.empty =
      q.size[n + 1] == 0 || sequences(call) == 0 || (q.size[n] == 0 && !call.given("final_kv"));
  look_at_blocks(call);
}

}  // namespace

fuzzed_op const& fuzzed_hedgehog() {
  using o = option_field;
  static fuzzed_op const op{TK_OP_HEDGEHOG,
                            "tk_hedgehog",
                            call_untyped<problem, tk_hedgehog>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"q", offsetof(problem, q)},
                             {"k", offsetof(problem, k)},
                             {"v", offsetof(problem, v)},
                             {"o", offsetof(problem, o), true},
                             {"map_q", offsetof(problem, map_q)},
                             {"map_k", offsetof(problem, map_k)},
                             {"alpha", offsetof(problem, alpha)},
                             {"beta", offsetof(problem, beta)},
                             {"initial_kv", offsetof(problem, initial_kv), false, {"final_kv"}},
                             {"initial_k", offsetof(problem, initial_k), false, {"final_k"}},
                             {"final_kv", offsetof(problem, final_kv), true},
                             {"final_k", offsetof(problem, final_k), true},
                             {"starts", offsetof(problem, starts)},
                             {"key_starts", offsetof(problem, key_starts)},
                             {"lengths", offsetof(problem, lengths)},
                             {"normaliser", offsetof(problem, normaliser), true}},
                            {{offsetof(problem, scale), o::factor},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved},
                             {offsetof(problem, reserved2), o::reserved}},
                            make,
                            look};
  return op;
}

}  // namespace fuzz
