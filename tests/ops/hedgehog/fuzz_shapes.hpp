// SPDX-License-Identifier: MIT
// What Hedgehog's ops share in the fuzzer.
#pragma once
#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz::hedgehog {

struct shapes {
  type of;
  bool packed;
  i64 b, h, nq, nk, d, features;
  sizes queries, keys, map, kv, k, numbers;
};

inline void choose(generator& g, char const* name, bool is_there, type what, sizes const& shape) {
  if (is_there) g.tensor(name, what, shape);
  else g.leave_out(name);
}

// What is large: few of them fit into the arena.
inline bool rarely(generator& g) { return g.number(0, 5) == 0; }

inline shapes make_inputs(generator& g) {
  shapes x{};
  x.b = g.huge() ? g.size() : g.number(0, 3) ? 1 : g.small_size();
  x.h = g.number(0, 7) ? 1 : g.number(0, 2);  // more do not fit into the arena
  x.nk = g.number(0, 3) ? g.number(0, 5) : g.size();
  x.nq = g.flip() ? x.nk : g.number(0, 5);
  if (rarely(g)) x.nk = g.flip() ? 128 : g.number(126, 129), x.nq = 1;  // a step of decoding
  x.d = g.number(0, 15) ? 128 : g.number(1, 256);
  x.features = g.number(0, 15) ? 64 : 32;
  x.packed = g.number(0, 3) == 0;
  x.of = g.half();
  x.queries = x.packed ? sizes{x.nq, x.h, x.d} : sizes{x.b, x.nq, x.h, x.d};
  x.keys = x.packed ? sizes{x.nk, x.h, x.d} : sizes{x.b, x.nk, x.h, x.d};
  x.map = {x.h, x.d, x.features};
  x.kv = {x.b, x.h, x.d, x.d}, x.k = {x.b, x.h, x.d};
  x.numbers = x.packed ? sizes{x.h, x.nq} : sizes{x.b, x.h, x.nq};
  g.tensor("q", x.of, x.queries);
  g.tensor("k", x.of, x.keys);
  g.tensor("v", x.of, x.keys);
  g.tensor("o", x.of, x.queries);
  g.tensor("map_q", x.of, x.map);
  g.tensor("map_k", x.of, x.map);
  g.tensor("alpha", fp32, {x.h});
  g.tensor("beta", fp32, {x.h});
  bool const initial = rarely(g);
  choose(g, "initial_kv", initial, fp32, x.kv);
  choose(g, "initial_k", initial, fp32, x.k);
  choose(g, "starts", x.packed, int32, {x.b + 1});
  choose(g, "key_starts", x.packed && g.flip(), int32, {x.b + 1});
  choose(g, "lengths", !x.packed && g.flip(), int32, {x.b});
  return x;
}

inline bool known(seen_call const& call) {
  return seen(call, "q").shaped && (!call.given("starts") || seen(call, "starts").shaped);
}
inline i64 sequences(seen_call const& call) {
  return call.given("starts") ? seen(call, "starts").size[0] - 1 : seen(call, "q").size[0];
}

inline void look_like(seen_call& call, char const* name, char const* like, unsigned types,
                      bool any_stride = false) {
  auto const& y = seen(call, like);
  call.read(name, {y.rank, y.rank, types, any_stride});
  auto const& x = seen(call, name);
  if (types == takes_halves) same_type(call.by_query, x, y);
  for (int axis = 0; axis < y.rank; ++axis) same_size(call.by_query, x, axis, y, axis);
}
inline void look_at_tokens(seen_call& call, char const* name, char const* like) {
  int const rank = call.given("starts") ? 3 : 4;
  call.read(name, {rank, rank, takes_halves});
  auto const &x = seen(call, name), &y = seen(call, like);
  same_type(call.by_query, x, y);
  for (int axis = 0; axis < rank; ++axis) same_size(call.by_query, x, axis, y, axis);
}
inline void look_at_states(seen_call& call, char const* kv, char const* k) {
  auto& f = call.by_query;
  int const n = call.given("starts") ? 0 : 1;
  auto const &q = seen(call, "q"), &v = seen(call, "v");
  f.add(call.given(kv) != call.given(k), TK_NULL_POINTER);
  auto const look = [&](char const* name, int rank) {
    call.read(name, {rank, rank, takes_fp32});
    auto const& t = seen(call, name);
    f.add(t.shaped && known(call) && t.size[0] != sequences(call), TK_BAD_SHAPE);
    same_size(f, t, 1, q, n + 1);
    same_size(f, t, 2, q, n + 2);
    if (rank == 4) same_size(f, t, 3, v, n + 2);
  };
  if (call.given(kv)) look(kv, 4);
  if (call.given(k)) look(k, 3);
}

inline void look_at_sequences(seen_call& call) {
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

inline void look_at_inputs(seen_call& call, float scale) {
  auto& f = call.by_query;
  f.add(!(scale >= 0x1p-64f && scale <= 0x1p64f), TK_BAD_VALUE);
  bool const packed = call.given("starts");
  int const rank = packed ? 3 : 4, n = packed ? 0 : 1;
  for (auto const* name : {"q", "k", "v"}) call.read(name, {rank, rank, takes_halves});
  auto const &q = seen(call, "q"), &k = seen(call, "k"), &v = seen(call, "v");
  for (auto const* t : {&k, &v}) {
    same_type(f, *t, q);
    for (int axis = 0; axis < rank; ++axis)
      if (axis != n) same_size(f, *t, axis, q, axis);
  }
  same_size(f, v, n, k, n);
  f.add(q.shaped && q.size[static_cast<std::size_t>(rank) - 1] != 128, TK_UNSUPPORTED);
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
  look_at_tokens(call, "o", "q");
  look_at_sequences(call);
  look_at_states(call, "initial_kv", "initial_k");
}
inline void look_at_normaliser(seen_call& call) {
  auto& f = call.by_query;
  bool const packed = call.given("starts");
  int const n = packed ? 0 : 1;
  call.read("normaliser", {n + 2, n + 2, takes_fp32});
  auto const &t = seen(call, "normaliser"), &q = seen(call, "q");
  if (!packed) same_size(f, t, 0, q, 0);
  same_size(f, t, n, q, n + 1);
  same_size(f, t, n + 1, q, n);
}
// Where something is written.
inline void look_at_blocks(seen_call& call) {
  auto const &q = seen(call, "q"), &k = seen(call, "k");
  bool const packed = call.given("starts");
  std::size_t const axis = packed ? 0 : 1;
  i64 const b = sequences(call);
  for (i64 const n : {q.size[axis], k.size[axis]}) {
    wide const blocks = packed ? wide(n / 16) + b : wide(n / 16 + 1) * b;
    call.by_query.add(!call.empty && blocks * q.size[axis + 1] > 1 << 26, TK_UNSUPPORTED);
  }
}

}  // namespace fuzz::hedgehog
