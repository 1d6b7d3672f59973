// SPDX-License-Identifier: MIT
// attention_forward for the fuzzer: its fields, correct problems, and what is wrong with others.
#include <cmath>

#include "ops/attention/attention_forward.h"
#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz {
namespace {

using problem = tk_attention_forward_problem;

i64 head_size(generator& g) {
  auto const how = g.number(0, 15);
  return how == 0 ? g.number(0, 300) : 8 * g.number(1, how < 14 ? 4 : 33);
}

void make(generator& g) {
  i64 const b = g.huge() ? g.size() : g.number(0, 3) ? g.number(1, 2) : g.small_size();
  i64 const hk = g.number(g.number(0, 7) == 0 ? 0 : 1, 3);
  i64 const hq = g.number(0, 7) ? hk * g.number(1, 3) : g.number(0, 5);
  i64 const nq = g.size(), nk = g.size();
  i64 const d = head_size(g), dv = g.flip() ? d : head_size(g);
  auto const of = g.half();
  g.tensor("q", of, {b, nq, hq, d});
  g.tensor("k", of, {b, nk, hk, d});
  g.tensor("v", of, {b, nk, hk, dv});
  g.tensor("o", of, {b, nq, hq, dv});
  if (g.flip()) g.tensor("lse", fp32, {b, hq, nq});
  else g.leave_out("lse");
  problem p{};
  put(p.mask, g.flip());
  p.scale = static_cast<float>(g.number(-8, 8)) / 4;
  put(p.repeat, g.flip());
  g.fields(p);
}

void look(seen_call& call) {
  auto const [q, k, v, o, lse] = call.all<5>();
  auto& f = call.by_query;
  f.add(!std::isfinite(call.problem<problem>().scale), TK_BAD_VALUE);
  for (auto const* name : {"q", "k", "v", "o"}) call.read(name, {4, 4, takes_halves});
  for (auto const* t : {&k, &v, &o}) {
    same_type(f, *t, q);
    same_size(f, *t, 0, q, 0);
  }
  same_size(f, k, 3, q, 3);
  same_size(f, v, 1, k, 1);
  same_size(f, v, 2, k, 2);
  same_size(f, o, 1, q, 1);
  same_size(f, o, 2, q, 2);
  same_size(f, o, 3, v, 3);
  auto const hq = q.size[2], hk = k.size[2];
  if (q.shaped && k.shaped) f.add(hk == 0 ? hq != 0 : hq % hk != 0, TK_BAD_SHAPE);
  for (auto const* t : {&q, &v}) {
    auto const size = t->size[3];
    f.add(t->shaped && (size < 8 || size > 256 || size % 8), TK_UNSUPPORTED);
  }
  if (call.given("lse")) {
    call.read("lse", {3, 3, takes_fp32});
    same_size(f, lse, 0, q, 0);
    same_size(f, lse, 1, q, 2);
    same_size(f, lse, 2, q, 1);
  }
  call.empty = o.shaped && (o.size[0] == 0 || o.size[1] == 0 || o.size[2] == 0);
  if (!call.empty && q.shaped && k.shaped) {
    f.add(q.size[1] + k.size[1] > largest_size, TK_UNSUPPORTED);
    f.add(tiles(q.size[1], 16) * q.size[2] * q.size[0] > largest_size, TK_UNSUPPORTED);
  }
}

}  // namespace

fuzzed_op const& fuzzed_attention_forward() {
  using o = option_field;
  static fuzzed_op const op{TK_OP_ATTENTION_FORWARD,
                            "tk_attention_forward",
                            call_untyped<problem, tk_attention_forward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"q", offsetof(problem, q)},
                             {"k", offsetof(problem, k)},
                             {"v", offsetof(problem, v)},
                             {"o", offsetof(problem, o), true},
                             {"lse", offsetof(problem, lse), true}},
                            {{offsetof(problem, mask), o::choice, 2},
                             {offsetof(problem, scale), o::factor},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved}},
                            make,
                            look};
  return op;
}

}  // namespace fuzz
