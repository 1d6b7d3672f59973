// SPDX-License-Identifier: MIT
// hedgehog_backward for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/hedgehog/hedgehog_backward.h"
#include "tests/ops/hedgehog/fuzz_shapes.hpp"

namespace fuzz {
namespace {

using namespace hedgehog;
using problem = tk_hedgehog_backward_problem;

void make(generator& g) {
  auto const x = make_inputs(g);
  g.tensor("dout", x.of, x.queries);
  g.tensor("normaliser", fp32, x.numbers);
  g.tensor("dq", x.of, x.queries);
  g.tensor("dk", x.of, x.keys);
  g.tensor("dv", x.of, x.keys);
  choose(g, "dmap_q", rarely(g), fp32, x.map);
  choose(g, "dmap_k", rarely(g), fp32, x.map);
  choose(g, "dalpha", g.flip(), fp32, {x.h});
  choose(g, "dbeta", g.flip(), fp32, {x.h});
  bool const final = rarely(g), initial = rarely(g);
  choose(g, "dfinal_kv", final, fp32, x.kv);
  choose(g, "dfinal_k", final, fp32, x.k);
  choose(g, "dinitial_kv", initial, fp32, x.kv);
  choose(g, "dinitial_k", initial, fp32, x.k);
  problem p{};
  p.scale = static_cast<float>(g.number(1, 8)) / 8;
  put(p.repeat, g.flip());
  g.fields(p);
}

void look(seen_call& call) {
  look_at_inputs(call, call.problem<problem>().scale);
  look_at_normaliser(call);
  look_at_tokens(call, "dout", "q");
  look_at_tokens(call, "dq", "q");
  look_at_tokens(call, "dk", "k");
  look_at_tokens(call, "dv", "v");
  auto& f = call.by_query;
  for (auto const& [name, like] : {std::pair{"dmap_q", "map_q"}, {"dmap_k", "map_k"}}) {
    if (!call.given(name)) continue;
    call.read(name, {3, 3, takes_fp32});
    for (int axis = 0; axis < 3; ++axis)
      same_size(f, seen(call, name), axis, seen(call, like), axis);
  }
  for (auto const& [name, like] : {std::pair{"dalpha", "alpha"}, {"dbeta", "beta"}}) {
    if (!call.given(name)) continue;
    call.read(name, {1, 1, takes_fp32, true});
    same_size(f, seen(call, name), 0, seen(call, like), 0);
  }
  look_at_states(call, "dfinal_kv", "dfinal_k");
  look_at_states(call, "dinitial_kv", "dinitial_k");
  auto const &q = seen(call, "q"), &k = seen(call, "k");
  if (!known(call) || !k.shaped) return;
  std::size_t const n = call.given("starts") ? 0 : 1;
  bool const some = sequences(call) > 0,
             sums = call.given("dmap_q") || call.given("dmap_k") || call.given("dalpha") ||
                    call.given("dbeta"),
             tokens = some && (q.size[n] > 0 || k.size[n] > 0),
             states = some && call.given("dinitial_kv");
  call.empty = q.size[n + 1] == 0 || !(sums || tokens || states);
  look_at_blocks(call);
}

}  // namespace

fuzzed_op const& fuzzed_hedgehog_backward() {
  using o = option_field;
  static fuzzed_op const op{TK_OP_HEDGEHOG_BACKWARD,
                            "tk_hedgehog_backward",
                            call_untyped<problem, tk_hedgehog_backward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"q", offsetof(problem, q)},
                             {"k", offsetof(problem, k)},
                             {"v", offsetof(problem, v)},
                             {"o", offsetof(problem, o)},
                             {"dout", offsetof(problem, dout)},
                             {"normaliser", offsetof(problem, normaliser)},
                             {"map_q", offsetof(problem, map_q)},
                             {"map_k", offsetof(problem, map_k)},
                             {"alpha", offsetof(problem, alpha)},
                             {"beta", offsetof(problem, beta)},
                             {"initial_kv", offsetof(problem, initial_kv)},
                             {"initial_k", offsetof(problem, initial_k)},
                             {"dfinal_kv", offsetof(problem, dfinal_kv)},
                             {"dfinal_k", offsetof(problem, dfinal_k)},
                             {"dq", offsetof(problem, dq), true},
                             {"dk", offsetof(problem, dk), true},
                             {"dv", offsetof(problem, dv), true},
                             {"dmap_q", offsetof(problem, dmap_q), true},
                             {"dmap_k", offsetof(problem, dmap_k), true},
                             {"dalpha", offsetof(problem, dalpha), true},
                             {"dbeta", offsetof(problem, dbeta), true},
                             {"dinitial_kv", offsetof(problem, dinitial_kv), true},
                             {"dinitial_k", offsetof(problem, dinitial_k), true},
                             {"starts", offsetof(problem, starts)},
                             {"key_starts", offsetof(problem, key_starts)},
                             {"lengths", offsetof(problem, lengths)}},
                            {{offsetof(problem, scale), o::factor},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved},
                             {offsetof(problem, reserved2), o::reserved}},
                            make,
                            look};
  return op;
}

}  // namespace fuzz
