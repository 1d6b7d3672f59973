// SPDX-License-Identifier: MIT
// What the fuzzer knows of attention's options, for all of its ops: their fields, made up and
// looked at, and the operands q, k, v and o.
#pragma once
#include "ops/attention/attention_options.h"
#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz {

inline i64 head_size(generator& g) {
  auto const how = g.number(0, 15);
  return how == 0 ? g.number(0, 300) : 8 * g.number(1, how < 14 ? 4 : 33);
}

inline void make_numbers(generator& g, tk_attention_options& x, bool packed, i64 nq, i64 nk) {
  x.has_window_left = g.number(0, 3) == 0;
  x.has_window_right = g.number(0, 3) == 0;
  if (x.has_window_left) x.window_left = static_cast<int>(g.number(0, 40));
  if (x.has_window_right) x.window_right = static_cast<int>(g.number(0, 40));
  if (g.number(0, 3) == 0) x.softcap = static_cast<float>(g.number(1, 200)) / 4;
  if (g.number(0, 3) == 0) x.dropout = static_cast<float>(g.number(0, 255)) / 256;
  x.seed = static_cast<std::uint64_t>(g.number(0, 1 << 20));
  x.offset = static_cast<std::uint64_t>(g.number(0, 99));
  if (packed && g.flip()) x.max_nq = g.number(0, nq + 1);
  if (packed && g.flip()) x.max_nk = g.number(0, nk + 1);
}

inline i64 length_of(i64 most, i64 all) { return most == 0 ? all : most; }

// The tensors of the options, after the struct's fields.
inline void make_options(generator& g, bool more, bool packed, type of, sizes const& b_hq_nq_nk) {
  i64 const b = b_hq_nq_nk[0], hq = b_hq_nq_nk[1], nq = b_hq_nq_nk[2], nk = b_hq_nq_nk[3];
  tk_attention_options x{};
  make_numbers(g, x, packed, nq, nk);
  auto const choose = [&](char const* name, bool is_there, type what, sizes const& shape) {
    if (is_there) g.tensor(name, what, shape);
    else g.leave_out(name);
  };
  auto const flat = g.flip();
  choose("alibi", more && g.flip(), fp32, flat ? sizes{hq} : sizes{b, hq});
  bool const wide = g.flip(), bias = more && g.flip();
  sizes const shape{g.flip() ? b : 1, g.flip() ? hq : 1, length_of(x.max_nq, nq),
                    length_of(x.max_nk, nk)};
  choose("bias", bias, wide ? fp32 : of, shape);
  if (g.has("dbias")) choose("dbias", bias && g.flip(), wide || g.flip() ? fp32 : of, shape);
  bool const sinks = more && g.flip();
  choose("sinks", sinks, fp32, {hq});
  if (g.has("dsinks")) choose("dsinks", sinks && g.flip(), fp32, {hq});
  choose("q_starts", packed, int32, {b + 1});
  choose("k_starts", packed, int32, {b + 1});
  choose("random_state", more && g.number(0, 3) == 0, uint64, {2});
  if (more) g.part(x);
}

inline void look_at_numbers(seen_call& call, tk_attention_options const& x, bool packed) {
  auto& f = call.by_query;
  auto const window = [&](int on, int width) {
    f.add(width < 0 || (on == 0 && width != 0), TK_BAD_VALUE);
  };
  window(x.has_window_left, x.window_left);
  window(x.has_window_right, x.window_right);
  f.add(!(x.softcap == 0 || (x.softcap >= 0x1p-64f && x.softcap <= 0x1p64f)), TK_BAD_VALUE);
  f.add(!(x.dropout >= 0 && x.dropout * 256 <= 255), TK_BAD_VALUE);
  for (i64 const most : {x.max_nq, x.max_nk})
    f.add(most < 0 || most > largest_size || (most != 0 && !packed), TK_BAD_VALUE);
}

inline void look_at_options(seen_call& call, bool packed) {
  auto const x = call.part<tk_attention_options>();
  auto const &q = seen(call, "q"), &k = seen(call, "k"), &alibi = seen(call, "alibi"),
             &bias = seen(call, "bias"), &sinks = seen(call, "sinks"),
             &q_starts = seen(call, "q_starts"), &k_starts = seen(call, "k_starts"),
             &state = seen(call, "random_state");
  auto& f = call.by_query;
  look_at_numbers(call, x, packed);
  auto const n = std::size_t(!packed);
  i64 b = q.size[0];
  if (packed) {
    call.read("q_starts", {1, 1, takes_int32});
    call.read("k_starts", {1, 1, takes_int32});
    same_size(f, k_starts, 0, q_starts, 0);
    f.add(q_starts.shaped && q_starts.size[0] == 0, TK_BAD_SHAPE);
    b = q_starts.size[0] - 1;
  }
  bool const known = q.shaped && k.shaped && (!packed || q_starts.shaped);
  i64 const hq = q.size[n + 1];
  auto const is = [&](seen_tensor const& t, std::size_t axis, i64 size, bool or_1 = false) {
    bool const right = t.size[axis] == size || (or_1 && t.size[axis] == 1);
    if (t.shaped && known) f.add(!right, TK_BAD_SHAPE);
  };
  if (call.given("alibi")) {
    call.read("alibi", {1, 2, takes_fp32});
    if (call.spec->tensors[call.index("alibi")].ndim == 2) is(alibi, 0, b);
    is(alibi, 1, hq);
  }
  if (call.given("bias")) {
    call.read("bias", {4, 4, takes_any});
    if (bias.typed && bias.bits != 32) same_type(f, bias, q);
    is(bias, 0, b, true);
    is(bias, 1, hq, true);
    is(bias, 2, length_of(x.max_nq, q.size[n]));
    is(bias, 3, length_of(x.max_nk, k.size[n]));
  }
  if (call.given("sinks")) {
    call.read("sinks", {1, 1, takes_fp32});
    is(sinks, 0, hq);
  }
  if (call.given("random_state")) {
    call.read("random_state", {1, 1, takes_64_bits});
    is(state, 0, 2);
  }
}

// q, k, v and o, rows at axis n.
inline void look_at_operands(seen_call& call, bool packed) {
  auto const &q = seen(call, "q"), &k = seen(call, "k"), &v = seen(call, "v"), &o = seen(call, "o");
  auto& f = call.by_query;
  int const rank = packed ? 3 : 4, n = packed ? 0 : 1;
  for (auto const* name : {"q", "k", "v", "o"}) call.read(name, {rank, rank, takes_halves});
  for (auto const* t : {&k, &v, &o}) {
    same_type(f, *t, q);
    if (!packed) same_size(f, *t, 0, q, 0);
  }
  same_size(f, k, n + 2, q, n + 2);
  same_size(f, v, n, k, n);
  same_size(f, v, n + 1, k, n + 1);
  same_size(f, o, n, q, n);
  same_size(f, o, n + 1, q, n + 1);
  same_size(f, o, n + 2, v, n + 2);
  auto const axis = static_cast<std::size_t>(n);
  auto const hq = q.size[axis + 1], hk = k.size[axis + 1];
  if (q.shaped && k.shaped) f.add(hk == 0 ? hq != 0 : hq % hk != 0, TK_BAD_SHAPE);
  for (auto const* t : {&q, &v}) {
    auto const size = t->size[axis + 2];
    f.add(t->shaped && (size < 8 || size > 256 || size % 8), TK_UNSUPPORTED);
  }
}

}  // namespace fuzz
