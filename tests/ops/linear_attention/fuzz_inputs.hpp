// SPDX-License-Identifier: MIT
// What the fuzzer knows of what the forward and the backward are given: sizes and options made up,
// and looked at.
#pragma once
#include <algorithm>
#include <cmath>

#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz::linear_attention {

enum class decay_kind { none, of_tokens, of_heads };

// Shapes of a made-up problem.
struct scan_shapes {
  type of;
  sizes narrow, wide, state, tokens;  // as q, as v, of a state, and as log_decay
  decay_kind decays;
};

// q, k, v, decays, the initial state and starts.
inline scan_shapes make_scan(generator& g) {
  i64 const b = g.huge() ? g.size() : g.number(0, 3) ? g.number(1, 2) : g.small_size();
  i64 const h = g.number(g.number(0, 7) == 0 ? 0 : 1, 3);
  i64 const n = g.number(0, 3) ? g.size() : g.number(24, 96);
  auto const width = [&] {
    auto const how = g.number(0, 15);
    return how == 0 ? g.number(0, 300) : 16 * g.number(1, how < 14 ? 2 : 17);
  };
  i64 const d = width(), dv = g.flip() ? d : width();
  bool const packed = g.number(0, 3) == 0;
  sizes const tokens = packed ? sizes{n, h} : sizes{b, n, h};
  auto const with = [&](i64 last) {
    auto shape = tokens;
    shape.push_back(last);
    return shape;
  };
  auto const made = g.number(0, 3);
  auto const decays = made == 0  ? decay_kind::none
                      : made < 3 ? decay_kind::of_tokens
                                 : decay_kind::of_heads;
  scan_shapes const x{g.half(), with(d), with(dv), {b, h, d, dv}, tokens, decays};
  auto const choose = [&](char const* name, bool is_there, type what, sizes const& shape) {
    if (is_there) g.tensor(name, what, shape);
    else g.leave_out(name);
  };
  g.tensor("q", x.of, x.narrow);
  g.tensor("k", x.of, x.narrow);
  g.tensor("v", x.of, x.wide);
  choose("log_decay", decays == decay_kind::of_tokens, fp32, tokens);
  choose("decay", decays == decay_kind::of_heads, fp32, {h});
  choose("initial_state", g.flip(), fp32, x.state);
  choose("starts", packed, int32, {b + 1});
  return x;
}
inline float made_up_scale(generator& g) {
  return static_cast<float>(g.number(1, 8)) / (g.flip() ? 4 : -4);
}

inline i64 sequences(seen_call const& call) {
  return call.given("starts") ? seen(call, "starts").size[0] - 1 : seen(call, "q").size[0];
}

// An operand as q or v is.
inline void look_at_tokens(seen_call& call, char const* name, char const* like) {
  int const rank = call.given("starts") ? 3 : 4;
  call.read(name, {rank, rank, takes_halves});
  auto const &t = seen(call, name), &x = seen(call, like);
  same_type(call.by_query, t, x);
  for (int axis = 0; axis < rank; ++axis) same_size(call.by_query, t, axis, x, axis);
}

inline void look_at_state(seen_call& call, char const* name) {
  if (!call.given(name)) return;
  call.read(name, {4, 4, takes_fp32});
  auto const &t = seen(call, name), &q = seen(call, "q"), &v = seen(call, "v");
  auto& f = call.by_query;
  int const n = call.given("starts") ? 0 : 1;
  if (t.shaped && q.shaped && (n == 1 || seen(call, "starts").shaped))
    f.add(t.size[0] != sequences(call), TK_BAD_SHAPE);
  same_size(f, t, 1, q, n + 1);
  same_size(f, t, 2, q, n + 2);
  same_size(f, t, 3, v, n + 2);
}

// What make_scan() made, but for the state.
inline void look_at_scan(seen_call& call, float scale) {
  auto& f = call.by_query;
  f.add(!(std::fabs(scale) >= 0x1p-64f && std::fabs(scale) <= 0x1p64f), TK_BAD_VALUE);
  bool const packed = call.given("starts");
  int const rank = packed ? 3 : 4, n = packed ? 0 : 1;
  for (auto const* name : {"q", "k", "v"}) call.read(name, {rank, rank, takes_halves});
  auto const &q = seen(call, "q"), &k = seen(call, "k"), &v = seen(call, "v");
  same_type(f, k, q);
  same_type(f, v, q);
  for (int axis = 0; axis < rank; ++axis) {
    same_size(f, k, axis, q, axis);
    if (axis < rank - 1) same_size(f, v, axis, q, axis);
  }
  for (auto const* t : {&q, &v}) {
    auto const size = t->size[static_cast<std::size_t>(rank) - 1];
    f.add(t->shaped && (size < 16 || size > 256 || size % 16), TK_UNSUPPORTED);
  }
  f.add(call.given("log_decay") && call.given("decay"), TK_BAD_VALUE);
  if (call.given("log_decay")) {
    call.read("log_decay", {rank - 1, rank - 1, takes_fp32, true});
    for (int axis = 0; axis < rank - 1; ++axis)
      same_size(f, seen(call, "log_decay"), axis, q, axis);
  }
  if (call.given("decay")) {
    call.read("decay", {1, 1, takes_fp32, true});
    same_size(f, seen(call, "decay"), 0, q, n + 1);
  }
  if (packed) {
    call.read("starts", {1, 1, takes_int32});
    f.add(seen(call, "starts").shaped && seen(call, "starts").size[0] == 0, TK_BAD_SHAPE);
  }
}

// After all tensors: is there an output element, and are there not too many blocks of tokens?
inline void look_at_blocks(seen_call& call, char const* state, bool other_output = false) {
  auto const& q = seen(call, "q");
  bool const packed = call.given("starts");
  if (!q.shaped || (packed && !seen(call, "starts").shaped)) return;
  std::size_t const axis = packed ? 0 : 1;
  i64 const b = sequences(call), n = q.size[axis], h = q.size[axis + 1];
  bool const sequences_write = b > 0 && (n > 0 || call.given(state));
  call.empty = h == 0 || !(sequences_write || other_output);
  wide const blocks = packed ? wide(n / 16) + b : wide(n / 16 + 1) * b;
  call.by_query.add(!call.empty && blocks * h > 1 << 26, TK_UNSUPPORTED);
}

}  // namespace fuzz::linear_attention
