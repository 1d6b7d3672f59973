// SPDX-License-Identifier: MIT
// rotary for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/rotary/rotary.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

void make(generator& g) {
  auto const of = g.half_or_fp32();
  bool const batched = g.flip();
  i64 const b = batched ? g.number(0, 3) : 1, n = g.size(), d = g.number(0, 40);
  auto const heads = [&](i64 h) { return batched ? sizes{b, n, h, d} : sizes{n, h, d}; };
  i64 const h = g.number(0, 3), hk = g.number(0, 3), numbered = g.number(0, 2);
  g.tensor("q", of, heads(h));
  bool const has_k = g.flip();
  if (has_k) g.tensor("k", of, heads(hk));
  else g.leave_out("k");
  auto const of_tables = g.flip() ? of : fp32;
  i64 const m = numbered ? g.number(0, 9) : n + g.number(0, 2), w = g.number(0, d / 2);
  g.tensor("cos", of_tables, {m, w});
  g.tensor("sin", of_tables, {m, w});
  auto const of_numbers = g.flip() ? int32 : int64;
  if (numbered == 1) g.tensor("positions", of_numbers, batched ? sizes{b, n} : sizes{n});
  else g.leave_out("positions");
  if (numbered == 2) g.tensor("offsets", of_numbers, {b});
  else g.leave_out("offsets");
  if (g.number(0, 2)) g.tensor("q_out", of, heads(h));
  else g.put_on("q_out", "q");
  if (!has_k) g.leave_out("k_out");
  else if (g.number(0, 2)) g.tensor("k_out", of, heads(hk));
  else g.put_on("k_out", "k");
  tk_rotary_problem p{};
  p.interleaved = g.flip();
  p.inverse = g.flip();
  put(p.repeat, g.flip());
  g.fields(p);
}

// A tensor's rank, as it was given.
wide rank_of(seen_call const& call, char const* name) {
  return call.spec->tensors[call.index(name)].ndim;
}
bool are_shaped(seen_call const& call, char const* x, char const* y) {
  return seen(call, x).shaped && seen(call, y).shaped;
}
void read_heads(seen_call& call, char const* name, char const* like, bool same_heads) {
  call.read(name, {3, 4, takes_any});
  auto const &x = seen(call, name), &y = seen(call, like);
  same_type(call.by_query, x, y);
  same_rank(call, name, like);
  for (int axis = 0; axis < 4; ++axis)
    if (axis != 2 || same_heads) same_size(call.by_query, x, axis, y, axis);
}

void look_at_tables(seen_call& call) {
  auto& f = call.by_query;
  call.read("cos", {2, 2, takes_any});
  call.read("sin", {2, 2, takes_any});
  auto const &q = seen(call, "q"), &cos = seen(call, "cos"), &sin = seen(call, "sin");
  if (cos.typed && !(cos.code == kDLFloat && cos.bits == 32)) same_type(f, cos, q);
  same_type(f, sin, cos);
  for (int axis = 0; axis < 2; ++axis) same_size(f, sin, axis, cos, axis);
  if (!are_shaped(call, "q", "cos")) return;
  f.add(cos.size[1] > q.size[3] / 2, TK_BAD_SHAPE);
  bool const in_order = !call.given("positions") && !call.given("offsets");
  f.add(in_order && cos.size[0] < q.size[1], TK_BAD_SHAPE);
}

void look_at_numbers(seen_call& call) {
  auto& f = call.by_query;
  auto const& q = seen(call, "q");
  if (call.given("positions")) {
    call.read("positions", {1, 2, takes_int32 | takes_int64, true});
    auto const& x = seen(call, "positions");
    f.add(
        are_shaped(call, "q", "positions") && rank_of(call, "positions") != rank_of(call, "q") - 2,
        TK_BAD_RANK);
    for (int axis = 0; axis < 2; ++axis) same_size(f, x, axis, q, axis);
  }
  if (call.given("offsets")) {
    call.read("offsets", {1, 1, takes_int32 | takes_int64, true});
    same_size(f, seen(call, "offsets"), 0, q, 0);
  }
}

void look(seen_call& call) {
  auto& f = call.by_query;
  f.add(call.given("k") != call.given("k_out"), TK_NULL_POINTER);
  f.add(call.given("positions") && call.given("offsets"), TK_BAD_VALUE);
  call.read("q", {3, 4, takes_any});
  if (call.given("k")) read_heads(call, "k", "q", false);
  look_at_tables(call);
  look_at_numbers(call);
  read_heads(call, "q_out", "q", true);
  if (call.given("k") && call.given("k_out")) read_heads(call, "k_out", "k", true);
  auto const &q = seen(call, "q"), &k = seen(call, "k");
  look_at_size(call, q);
  bool const q_empty = call.empty;
  if (call.given("k")) look_at_size(call, k);
  call.empty = q_empty && call.empty;
}

}  // namespace

fuzzed_op const& fuzzed_rotary() {
  using o = option_field;
  using problem = tk_rotary_problem;
  static fuzzed_op const op{TK_OP_ROTARY,
                            "tk_rotary",
                            call_untyped<problem, tk_rotary>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"q", offsetof(problem, q), false, {"q_out"}},
                             {"k", offsetof(problem, k), false, {"k_out"}},
                             {"cos", offsetof(problem, cos)},
                             {"sin", offsetof(problem, sin)},
                             {"positions", offsetof(problem, positions)},
                             {"offsets", offsetof(problem, offsets)},
                             {"q_out", offsetof(problem, q_out), true},
                             {"k_out", offsetof(problem, k_out), true}},
                            {{offsetof(problem, interleaved), o::choice, 2},
                             {offsetof(problem, inverse), o::choice, 2},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved}},
                            make,
                            look};
  return op;
}

}  // namespace fuzz
