// SPDX-License-Identifier: MIT
// based for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/based/based.h"

#include "tests/ops/linear_attention/fuzz_inputs.hpp"

namespace fuzz {
namespace {

using problem = tk_based_problem;

void make(generator& g) {
  i64 const b = g.huge() ? g.size() : g.number(0, 3) ? g.number(1, 2) : g.small_size();
  i64 const h = g.number(g.number(0, 7) == 0 ? 0 : 1, 3);
  i64 const n = g.number(0, 3) ? g.size() : g.number(24, 96);
  i64 const d = g.number(0, 15) ? 16 : g.number(0, 48);
  auto const how = g.number(0, 15);
  i64 const dv = how == 0 ? g.number(0, 300) : 16 * g.number(1, how < 14 ? 2 : 17);
  i64 const moments = g.number(0, 15) ? 153 : g.number(150, 160);
  bool const is_packed = g.number(0, 3) == 0, normalise = g.flip();
  auto const of_tokens = [&](i64 width) {
    return is_packed ? sizes{n, h, width} : sizes{b, n, h, width};
  };
  type const of = g.half();
  g.tensor("q", of, of_tokens(d));
  g.tensor("k", of, of_tokens(d));
  g.tensor("v", of, of_tokens(dv));
  g.tensor("o", of, of_tokens(dv));
  auto const choose = [&](char const* name, bool is_there, type what, sizes const& shape) {
    if (is_there) g.tensor(name, what, shape);
    else g.leave_out(name);
  };
  sizes const state{b, h, moments, dv}, sums{b, h, moments};
  bool const wants_sums = normalise || g.number(0, 15) == 0;
  choose("initial_state", g.flip(), fp32, state);
  choose("final_state", g.flip(), fp32, state);
  choose("initial_sums", wants_sums && g.flip(), fp32, sums);
  choose("final_sums", wants_sums && g.flip(), fp32, sums);
  choose("starts", is_packed, int32, {b + 1});
  if (g.given("final_state") && g.flip()) g.put_on("initial_state", "final_state");
  if (g.given("final_sums") && g.flip()) g.put_on("initial_sums", "final_sums");
  problem p{};
  p.scale = linear_attention::made_up_scale(g);
  p.normalise = normalise;
  put(p.repeat, g.flip());
  g.fields(p);
}

// A state, or its sums.
void look_at_moments(seen_call& call, char const* name, int rank) {
  if (!call.given(name)) return;
  call.read(name, {rank, rank, takes_fp32});
  auto const &t = seen(call, name), &v = seen(call, "v");
  auto& f = call.by_query;
  int const n = call.given("starts") ? 0 : 1;
  if (t.shaped && v.shaped && (n == 1 || seen(call, "starts").shaped))
    f.add(t.size[0] != linear_attention::sequences(call), TK_BAD_SHAPE);
  same_size(f, t, 1, v, n + 1);
  f.add(t.shaped && t.size[2] != 153, TK_BAD_SHAPE);
  if (rank == 4) same_size(f, t, 3, v, n + 2);
  else f.add(call.problem<problem>().normalise != 1, TK_BAD_VALUE);
}

void look(seen_call& call) {
  auto& f = call.by_query;
  auto const& p = call.problem<problem>();
  f.add(!(std::fabs(p.scale) >= 0x1p-32f && std::fabs(p.scale) <= 0x1p32f), TK_BAD_VALUE);
  bool const is_packed = call.given("starts");
  int const rank = is_packed ? 3 : 4;
  for (auto const* name : {"q", "k", "v"}) call.read(name, {rank, rank, takes_halves});
  auto const &q = seen(call, "q"), &k = seen(call, "k"), &v = seen(call, "v");
  same_type(f, k, q);
  same_type(f, v, q);
  for (int axis = 0; axis < rank; ++axis) {
    same_size(f, k, axis, q, axis);
    if (axis < rank - 1) same_size(f, v, axis, q, axis);
  }
  auto const last = static_cast<std::size_t>(rank) - 1;
  f.add(q.shaped && q.size[last] != 16, TK_UNSUPPORTED);
  f.add(v.shaped && (v.size[last] < 16 || v.size[last] > 256 || v.size[last] % 16), TK_UNSUPPORTED);
  if (is_packed) {
    call.read("starts", {1, 1, takes_int32});
    f.add(seen(call, "starts").shaped && seen(call, "starts").size[0] == 0, TK_BAD_SHAPE);
  }
  linear_attention::look_at_tokens(call, "o", "v");
  for (auto const* name : {"initial_state", "final_state"}) look_at_moments(call, name, 4);
  for (auto const* name : {"initial_sums", "final_sums"}) look_at_moments(call, name, 3);
  linear_attention::look_at_blocks(call, call.given("final_state") ? "final_state" : "final_sums");
}

}  // namespace

fuzzed_op const& fuzzed_based() {
  using o = option_field;
  static fuzzed_op const op{
      TK_OP_BASED,
      "tk_based",
      call_untyped<problem, tk_based>,
      sizeof(problem),
      offsetof(problem, repeat),
      {{"q", offsetof(problem, q)},
       {"k", offsetof(problem, k)},
       {"v", offsetof(problem, v)},
       {"o", offsetof(problem, o), true},
       {"initial_state", offsetof(problem, initial_state), false, {"final_state"}},
       {"final_state", offsetof(problem, final_state), true},
       {"initial_sums", offsetof(problem, initial_sums), false, {"final_sums"}},
       {"final_sums", offsetof(problem, final_sums), true},
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
