// SPDX-License-Identifier: MIT
// What the fuzzer knows of what Based's forward and backward are given: sizes made up, and looked
// at.
#pragma once
#include "tests/ops/linear_attention/fuzz_inputs.hpp"

namespace fuzz::based {

using linear_attention::look_at_tokens;

// Shapes of a made-up problem.
struct made_shapes {
  type of;
  sizes narrow, wide, state, sums;
  bool normalises;
};

inline void choose(generator& g, char const* name, bool is_there, type what, sizes const& shape) {
  if (is_there) g.tensor(name, what, shape);
  else g.leave_out(name);
}
// Are sums given? Mostly only where they may be.
inline bool wants_sums(generator& g, made_shapes const& x) {
  return (x.normalises || g.number(0, 15) == 0) && g.flip();
}

// q, k, v, the initial state and its sums, and starts.
inline made_shapes make_based(generator& g) {
  i64 const b = g.huge() ? g.size() : g.number(0, 3) ? g.number(1, 2) : g.small_size();
  i64 const h = g.number(g.number(0, 7) == 0 ? 0 : 1, 3);
  i64 const n = g.number(0, 3) ? g.size() : g.number(24, 96);
  i64 const d = g.number(0, 15) ? 16 : g.number(0, 48);
  auto const how = g.number(0, 15);
  i64 const dv = how == 0 ? g.number(0, 300) : 16 * g.number(1, how < 14 ? 2 : 17);
  i64 const moments = g.number(0, 15) ? 153 : g.number(150, 160);
  bool const is_packed = g.number(0, 3) == 0;
  auto const of_tokens = [&](i64 width) {
    return is_packed ? sizes{n, h, width} : sizes{b, n, h, width};
  };
  made_shapes const x{g.half(),        of_tokens(d), of_tokens(dv), {b, h, moments, dv},
                      {b, h, moments}, g.flip()};
  g.tensor("q", x.of, x.narrow);
  g.tensor("k", x.of, x.narrow);
  g.tensor("v", x.of, x.wide);
  choose(g, "initial_state", g.flip(), fp32, x.state);
  choose(g, "initial_sums", wants_sums(g, x), fp32, x.sums);
  choose(g, "starts", is_packed, int32, {b + 1});
  return x;
}
template <class Problem> Problem made_up_options(generator& g, made_shapes const& x) {
  Problem p{};
  p.scale = linear_attention::made_up_scale(g);
  p.normalise = x.normalises;
  put(p.repeat, g.flip());
  return p;
}

// A state, or sums.
inline void look_at_moments(seen_call& call, char const* name, int rank, bool normalises) {
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
  else f.add(!normalises, TK_BAD_VALUE);
}

// What make_based() made.
template <class Problem> void look_at_based(seen_call& call) {
  auto& f = call.by_query;
  auto const& p = call.problem<Problem>();
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
  look_at_moments(call, "initial_state", 4, p.normalise == 1);
  look_at_moments(call, "initial_sums", 3, p.normalise == 1);
}

}  // namespace fuzz::based
