// SPDX-License-Identifier: MIT
// hedgehog for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/hedgehog/hedgehog.h"
#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz {
namespace {

using problem = tk_hedgehog_problem;

void make(generator& g) {
  i64 const b = g.huge() ? g.size() : g.number(0, 3) ? g.number(1, 2) : g.small_size();
  i64 const h = g.number(g.number(0, 7) == 0 ? 0 : 1, 2);
  i64 const nk = g.number(0, 3) ? g.number(0, 5) : g.size(), nq = g.flip() ? nk : g.number(0, 5);
  i64 const d = g.number(0, 15) ? 128 : g.number(1, 256), features = g.number(0, 15) ? 64 : 32;
  bool const packed = g.number(0, 3) == 0;
  auto const of = g.half();
  auto const operand = [&](char const* name, i64 n) {
    if (packed) g.tensor(name, of, {n, h, d});
    else g.tensor(name, of, {b, n, h, d});
  };
  auto const choose = [&](char const* name, bool is_there, type what, sizes const& shape) {
    if (is_there) g.tensor(name, what, shape);
    else g.leave_out(name);
  };
  operand("q", nq);
  operand("k", nk);
  operand("v", nk);
  operand("o", nq);
  g.tensor("map_q", of, {h, d, features});
  g.tensor("map_k", of, {h, d, features});
  g.tensor("alpha", fp32, {h});
  g.tensor("beta", fp32, {h});
  bool const initial = g.flip(), final = g.flip();
  choose("initial_kv", initial, fp32, {b, h, d, d});
  choose("initial_k", initial, fp32, {b, h, d});
  choose("final_kv", final, fp32, {b, h, d, d});
  choose("final_k", final, fp32, {b, h, d});
  if (initial && final && g.flip()) {
    g.put_on("initial_kv", "final_kv");
    g.put_on("initial_k", "final_k");
  }
  choose("normaliser", g.flip(), fp32, packed ? sizes{h, nq} : sizes{b, h, nq});
  choose("starts", packed, int32, {b + 1});
  choose("key_starts", packed && g.flip(), int32, {b + 1});
  choose("lengths", !packed && g.flip(), int32, {b});
  problem p{};
  p.scale = static_cast<float>(g.number(1, 8)) / 8;
  put(p.repeat, g.flip());
  g.fields(p);
}

void look_at_states(seen_call& call, i64 b, bool known) {
  auto& f = call.by_query;
  int const n = call.given("starts") ? 0 : 1;
  auto const &q = seen(call, "q"), &v = seen(call, "v");
  for (bool const final : {false, true}) {
    auto const* const kv = final ? "final_kv" : "initial_kv";
    auto const* const k = final ? "final_k" : "initial_k";
    f.add(call.given(kv) != call.given(k), TK_NULL_POINTER);
    if (call.given(kv)) {
      call.read(kv, {4, 4, takes_fp32});
      auto const& t = seen(call, kv);
      f.add(t.shaped && known && t.size[0] != b, TK_BAD_SHAPE);
      same_size(f, t, 1, q, n + 1);
      same_size(f, t, 2, q, n + 2);
      same_size(f, t, 3, v, n + 2);
    }
    if (call.given(k)) {
      call.read(k, {3, 3, takes_fp32});
      auto const& t = seen(call, k);
      f.add(t.shaped && known && t.size[0] != b, TK_BAD_SHAPE);
      same_size(f, t, 1, q, n + 1);
      same_size(f, t, 2, q, n + 2);
    }
  }
}

void look_at_sequences(seen_call& call) {
  auto& f = call.by_query;
  auto const& starts = seen(call, "starts");
  if (call.given("starts")) {
    call.read("starts", {1, 1, takes_int32});
    f.add(starts.shaped && starts.size[0] == 0, TK_BAD_SHAPE);
  }
  if (call.given("key_starts")) {
    f.add(!call.given("starts"), TK_NULL_POINTER);
    if (call.given("starts")) {
      call.read("key_starts", {1, 1, takes_int32});
      same_size(f, seen(call, "key_starts"), 0, starts, 0);
    }
  }
  if (call.given("lengths")) {
    f.add(call.given("starts"), TK_BAD_VALUE);
    if (!call.given("starts")) {
      call.read("lengths", {1, 1, takes_int32});
      same_size(f, seen(call, "lengths"), 0, seen(call, "q"), 0);
    }
  }
}

void look(seen_call& call) {
  auto& f = call.by_query;
  float const scale = call.problem<problem>().scale;
  f.add(!(scale >= 0x1p-64f && scale <= 0x1p64f), TK_BAD_VALUE);
  bool const packed = call.given("starts");
  int const rank = packed ? 3 : 4, n = packed ? 0 : 1;
  for (auto const* name : {"q", "k", "v", "o"}) call.read(name, {rank, rank, takes_halves});
  auto const &q = seen(call, "q"), &k = seen(call, "k"), &v = seen(call, "v"), &o = seen(call, "o");
  for (auto const* t : {&k, &v}) {
    same_type(f, *t, q);
    for (int axis = 0; axis < rank; ++axis)
      if (axis != n) same_size(f, *t, axis, q, axis);
  }
  same_size(f, v, n, k, n);
  same_type(f, o, q);
  for (int axis = 0; axis < rank; ++axis) same_size(f, o, axis, q, axis);
  auto const width = static_cast<std::size_t>(rank) - 1, axis = static_cast<std::size_t>(n);
  f.add(q.shaped && q.size[width] != 128, TK_UNSUPPORTED);
  for (auto const* name : {"map_q", "map_k"}) {
    call.read(name, {3, 3, takes_halves});
    auto const& t = seen(call, name);
    same_type(f, t, q);
    same_size(f, t, 0, q, n + 1);
    same_size(f, t, 1, q, n + 2);
    f.add(t.shaped && t.size[2] != 64, TK_UNSUPPORTED);
  }
  for (auto const* name : {"alpha", "beta"}) {
    call.read(name, {1, 1, takes_fp32, true});
    same_size(f, seen(call, name), 0, q, n + 1);
  }
  if (call.given("normaliser")) {
    call.read("normaliser", {rank - 1, rank - 1, takes_fp32});
    auto const& t = seen(call, "normaliser");
    if (!packed) same_size(f, t, 0, q, 0);
    same_size(f, t, n, q, n + 1);
    same_size(f, t, n + 1, q, n);
  }
  look_at_sequences(call);
  auto const& starts = seen(call, "starts");
  bool const known = q.shaped && (!packed || starts.shaped);
  i64 const b = packed ? starts.size[0] - 1 : q.size[0];
  look_at_states(call, b, known);
  if (!known || !k.shaped) return;
  i64 const h = q.size[axis + 1], nq = q.size[axis], nk = k.size[axis];
  call.empty = h == 0 || b == 0 || (nq == 0 && !call.given("final_kv"));
  for (i64 const of : {nq, nk}) {
    wide const blocks = packed ? wide(of / 16) + b : wide(of / 16 + 1) * b;
    f.add(!call.empty && blocks * h > 1 << 27, TK_UNSUPPORTED);
  }
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
