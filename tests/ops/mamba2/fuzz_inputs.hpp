// SPDX-License-Identifier: MIT
// What the fuzzer knows of what the forward and the backward are given: sizes and options made up,
// and looked at.
#pragma once
#include <algorithm>
#include <cmath>

#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz::mamba2 {

// Shapes of a made-up problem: as x, B, dt, A, D and a state.
struct mamba2_shapes {
  type of, of_steps;
  sizes x, B, dt, A, D, state;
};

inline mamba2_shapes make_mamba2(generator& g) {
  i64 const b = g.huge() ? g.size() : g.number(0, 3) ? g.number(1, 2) : g.small_size();
  i64 const groups = g.number(g.number(0, 7) == 0 ? 0 : 1, 2), h = groups * g.number(1, 3);
  i64 const n = g.number(0, 3) ? g.size() : g.number(24, 96);
  auto const width = [&] {
    auto const how = g.number(0, 15);
    return how == 0 ? g.number(0, 300) : 16 * g.number(1, how < 14 ? 2 : 17);
  };
  i64 const p = width(), s = g.flip() ? p : width();
  bool const packed = g.number(0, 3) == 0;
  auto const of_tokens = [&](std::initializer_list<i64> more) {
    auto shape = packed ? sizes{n} : sizes{b, n};
    shape.insert(shape.end(), more);
    return shape;
  };
  type const of = g.half();
  mamba2_shapes const y{of,
                        g.flip() ? of : fp32,
                        of_tokens({h, p}),
                        of_tokens({groups, s}),
                        of_tokens({h}),
                        {h},
                        g.flip() ? sizes{h} : sizes{h, p},
                        {b, h, p, s}};
  auto const choose = [&](char const* name, type what, sizes const& shape) {
    if (g.flip()) g.tensor(name, what, shape);
    else g.leave_out(name);
  };
  g.tensor("x", y.of, y.x);
  g.tensor("dt", y.of_steps, y.dt);
  g.tensor("A", fp32, y.A);
  g.tensor("B", y.of, y.B);
  g.tensor("C", y.of, y.B);
  choose("D", fp32, y.D);
  choose("z", y.of, y.x);
  choose("dt_bias", fp32, y.A);
  choose("initial_state", fp32, y.state);
  if (packed) g.tensor("starts", int32, {b + 1});
  else g.leave_out("starts");
  return y;
}
template <class Problem> Problem made_up_options(generator& g) {
  Problem p{};
  p.dt_min = static_cast<float>(g.number(0, 2)) / 8;
  p.dt_max = g.flip() ? HUGE_VALF : p.dt_min + static_cast<float>(g.number(0, 2));
  p.dt_softplus = static_cast<int>(g.number(0, 1));
  put(p.repeat, g.flip());
  return p;
}

inline i64 sequences(seen_call const& call) {
  return call.given("starts") ? seen(call, "starts").size[0] - 1 : seen(call, "x").size[0];
}
inline int rank_of_tokens(seen_call const& call) { return call.given("starts") ? 3 : 4; }

// An operand of tokens of another's shape and type, or of all its sizes but the last.
inline void look_like(seen_call& call, char const* name, char const* like, int rank, unsigned types,
                      bool any_stride = false) {
  call.read(name, {rank, rank, types, any_stride});
  auto const &t = seen(call, name), &x = seen(call, like);
  for (int axis = 0; axis < rank; ++axis) same_size(call.by_query, t, axis, x, axis);
}
inline void look_like_x(seen_call& call, char const* name, char const* like = "x") {
  look_like(call, name, like, rank_of_tokens(call), takes_halves);
  same_type(call.by_query, seen(call, name), seen(call, like));
}
inline void look_at_number_of_heads(seen_call& call, char const* name) {
  call.read(name, {1, 1, takes_fp32, true});
  int const h = rank_of_tokens(call) - 2;
  same_size(call.by_query, seen(call, name), 0, seen(call, "x"), h);
}
inline void look_at_state(seen_call& call, char const* name) {
  if (!call.given(name)) return;
  call.read(name, {4, 4, takes_fp32});
  auto const &t = seen(call, name), &x = seen(call, "x"), &B = seen(call, "B");
  auto& f = call.by_query;
  int const h = rank_of_tokens(call) - 2;
  if (t.shaped && x.shaped && (!call.given("starts") || seen(call, "starts").shaped))
    f.add(t.size[0] != sequences(call), TK_BAD_SHAPE);
  same_size(f, t, 1, x, h);
  same_size(f, t, 2, x, h + 1);
  same_size(f, t, 3, B, h + 1);
}

// What make_mamba2() made, but for the states.
template <class Problem> void look_at_mamba2(seen_call& call) {
  auto& f = call.by_query;
  auto const p = call.problem<Problem>();
  f.add(!(p.dt_min <= p.dt_max), TK_BAD_VALUE);
  int const rank = rank_of_tokens(call);
  auto const wide_axis = static_cast<std::size_t>(rank) - 1;
  auto const look_at_width = [&](seen_tensor const& t) {
    auto const size = t.size[wide_axis];
    f.add(t.shaped && (size < 16 || size > 256 || size % 16), TK_UNSUPPORTED);
  };
  call.read("x", {rank, rank, takes_halves});
  auto const &x = seen(call, "x"), &B = seen(call, "B");
  look_at_width(x);
  look_like(call, "dt", "x", rank - 1, takes_halves | takes_fp32, true);
  auto const& dt = seen(call, "dt");
  f.add(dt.typed && x.typed && dt.bits != 32 && (dt.bits != x.bits || dt.code != x.code),
        TK_BAD_TYPE);
  look_at_number_of_heads(call, "A");
  call.read("B", {rank, rank, takes_halves});
  same_type(f, B, x);
  for (int axis = 0; axis < rank - 2; ++axis) same_size(f, B, axis, x, axis);
  look_at_width(B);
  if (B.shaped && x.shaped) {
    auto const groups = B.size[wide_axis - 1], h = x.size[wide_axis - 1];
    f.add(groups > 0 ? h == 0 || h % groups != 0 : h > 0, TK_BAD_SHAPE);
  }
  look_like_x(call, "C", "B");
  if (call.given("D")) {
    // One dimension, or else two.
    if (call.spec->tensors[call.index("D")].ndim == 1) {
      look_at_number_of_heads(call, "D");
    } else {
      call.read("D", {2, 2, takes_fp32, true});
      for (int axis = 0; axis < 2; ++axis) same_size(f, seen(call, "D"), axis, x, rank - 2 + axis);
    }
  }
  if (call.given("z")) look_like_x(call, "z");
  if (call.given("dt_bias")) look_at_number_of_heads(call, "dt_bias");
  if (!call.given("starts")) return;
  call.read("starts", {1, 1, takes_int32});
  f.add(seen(call, "starts").shaped && seen(call, "starts").size[0] == 0, TK_BAD_SHAPE);
}

// After all tensors: are there not too many blocks of tokens?
inline void look_at_blocks(seen_call& call) {
  auto const& x = seen(call, "x");
  bool const packed = call.given("starts");
  if (!x.shaped || (packed && !seen(call, "starts").shaped)) return;
  std::size_t const axis = packed ? 0 : 1;
  i64 const b = sequences(call), n = x.size[axis], h = x.size[axis + 1], p = x.size[axis + 2];
  wide const blocks = packed ? wide(n / 16) + b : wide(n / 16 + 1) * b;
  call.by_query.add(!call.empty && (blocks * h > 1 << 26 || wide(h) * p > largest_size),
                    TK_UNSUPPORTED);
}

}  // namespace fuzz::mamba2
