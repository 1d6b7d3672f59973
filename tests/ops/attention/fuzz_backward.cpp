// SPDX-License-Identifier: MIT
// attention_backward for the fuzzer: its fields, correct problems, and what is wrong with others.
#include <cmath>

#include "ops/attention/attention_backward.h"
#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz {
namespace {

using problem = tk_attention_backward_problem;

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
  for (auto const* name : {"q", "dq"}) g.tensor(name, of, {b, nq, hq, d});
  for (auto const* name : {"k", "dk"}) g.tensor(name, of, {b, nk, hk, d});
  for (auto const* name : {"v", "dv"}) g.tensor(name, of, {b, nk, hk, dv});
  for (auto const* name : {"o", "dout"}) g.tensor(name, of, {b, nq, hq, dv});
  g.tensor("lse", fp32, {b, hq, nq});
  problem p{};
  put(p.mask, g.flip());
  p.scale = static_cast<float>(g.number(-8, 8)) / 4;
  put(p.repeat, g.flip());
  g.fields(p);
}

void look(seen_call& call) {
  auto const [q, k, v, o, lse, dout, dq, dk, dv] = call.all<9>();
  auto& f = call.by_query;
  float const scale = call.problem<problem>().scale;
  f.add(!std::isfinite(scale), TK_BAD_VALUE);
  for (auto const* name : {"q", "k", "v", "o", "dout", "dq", "dk", "dv"})
    call.read(name, {4, 4, takes_halves});
  call.read("lse", {3, 3, takes_fp32});
  for (auto const* t : {&k, &v, &o, &dout, &dq, &dk, &dv}) {
    same_type(f, *t, q);
    same_size(f, *t, 0, q, 0);
  }
  same_size(f, k, 3, q, 3);
  same_size(f, v, 1, k, 1);
  same_size(f, v, 2, k, 2);
  same_size(f, o, 1, q, 1);
  same_size(f, o, 2, q, 2);
  same_size(f, o, 3, v, 3);
  for (int axis = 1; axis < 4; ++axis) {
    same_size(f, dout, axis, o, axis);
    same_size(f, dq, axis, q, axis);
    same_size(f, dk, axis, k, axis);
    same_size(f, dv, axis, v, axis);
  }
  same_size(f, lse, 0, q, 0);
  same_size(f, lse, 1, q, 2);
  same_size(f, lse, 2, q, 1);
  auto const hq = q.size[2], hk = k.size[2];
  if (q.shaped && k.shaped) f.add(hk == 0 ? hq != 0 : hq % hk != 0, TK_BAD_SHAPE);
  for (auto const* t : {&q, &v}) {
    auto const size = t->size[3];
    f.add(t->shaped && (size < 8 || size > 256 || size % 8), TK_UNSUPPORTED);
  }
  if (!q.shaped || !k.shaped) return;
  call.empty = q.size[0] == 0 || hk == 0 || (k.size[1] == 0 && (q.size[1] == 0 || hq == 0));
  if (call.empty) return;
  f.add(!(std::fabs(scale) < 0x1p126f), TK_UNSUPPORTED);
  f.add(q.size[1] + k.size[1] > largest_size, TK_UNSUPPORTED);
  auto const blocks = [](seen_tensor const& t) { return tiles(t.size[1], 16) * t.size[2]; };
  f.add((std::max(blocks(q), wide(hk)) + blocks(k)) * q.size[0] > largest_size / 4, TK_UNSUPPORTED);
}

}  // namespace

fuzzed_op const& fuzzed_attention_backward() {
  using o = option_field;
  static fuzzed_op const op{TK_OP_ATTENTION_BACKWARD,
                            "tk_attention_backward",
                            call_untyped<problem, tk_attention_backward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"q", offsetof(problem, q)},
                             {"k", offsetof(problem, k)},
                             {"v", offsetof(problem, v)},
                             {"o", offsetof(problem, o)},
                             {"lse", offsetof(problem, lse)},
                             {"dout", offsetof(problem, dout)},
                             {"dq", offsetof(problem, dq), true},
                             {"dk", offsetof(problem, dk), true},
                             {"dv", offsetof(problem, dv), true}},
                            {{offsetof(problem, mask), o::choice, 2},
                             {offsetof(problem, scale), o::factor},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved}},
                            make,
                            look};
  return op;
}

}  // namespace fuzz
