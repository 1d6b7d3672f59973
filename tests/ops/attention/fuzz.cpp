// SPDX-License-Identifier: MIT
// attention_forward for the fuzzer: its fields, correct problems, and what is wrong with others.
#include <cmath>

#include "ops/attention/attention_forward.h"
#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz {
namespace {

using problem = tk_attention_forward_problem;
using options = tk_attention_options;

constexpr std::size_t of_options(std::size_t offset) { return sizeof(problem) + offset; }

i64 head_size(generator& g) {
  auto const how = g.number(0, 15);
  return how == 0 ? g.number(0, 300) : 8 * g.number(1, how < 14 ? 4 : 33);
}

void make_numbers(generator& g, options& x, bool packed, i64 nq, i64 nk) {
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

i64 length_of(i64 most, i64 all) { return most == 0 ? all : most; }

void make(generator& g) {
  i64 const b = g.huge() ? g.size() : g.number(0, 3) ? g.number(1, 2) : g.small_size();
  i64 const hk = g.number(g.number(0, 7) == 0 ? 0 : 1, 3);
  i64 const hq = g.number(0, 7) ? hk * g.number(1, 3) : g.number(0, 5);
  i64 const nq = g.size(), nk = g.size();
  i64 const d = head_size(g), dv = g.flip() ? d : head_size(g);
  auto const of = g.half();
  bool const more = g.flip(), packed = more && g.number(0, 3) == 0;
  auto const operand = [&](char const* name, i64 n, i64 h, i64 width) {
    if (packed) g.tensor(name, of, {n, h, width});
    else g.tensor(name, of, {b, n, h, width});
  };
  operand("q", nq, hq, d);
  operand("k", nk, hk, d);
  operand("v", nk, hk, dv);
  operand("o", nq, hq, dv);
  if (!g.flip()) g.leave_out("lse");
  else if (packed) g.tensor("lse", fp32, {hq, nq});
  else g.tensor("lse", fp32, {b, hq, nq});
  problem p{};
  put(p.mask, g.flip());
  p.scale = static_cast<float>(g.number(-8, 8)) / 4;
  put(p.repeat, g.flip());
  g.fields(p);
  options x{};
  make_numbers(g, x, packed, nq, nk);
  auto const choose = [&](char const* name, bool is_there, type what, sizes const& shape) {
    if (is_there) g.tensor(name, what, shape);
    else g.leave_out(name);
  };
  auto const flat = g.flip();
  choose("alibi", more && g.flip(), fp32, flat ? sizes{hq} : sizes{b, hq});
  choose("bias", more && g.flip(), g.flip() ? of : fp32,
         {g.flip() ? b : 1, g.flip() ? hq : 1, length_of(x.max_nq, nq), length_of(x.max_nk, nk)});
  choose("sinks", more && g.flip(), fp32, {hq});
  choose("q_starts", packed, int32, {b + 1});
  choose("k_starts", packed, int32, {b + 1});
  choose("random_state", more && g.number(0, 3) == 0, uint64, {2});
  if (more) g.part(x);
}

void look_at_numbers(seen_call& call, options const& x, bool packed) {
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

void look_at_options(seen_call& call, bool packed) {
  auto const x = call.part<options>();
  auto const [q, k, v, o, lse, alibi, bias, sinks, q_starts, k_starts, state] = call.all<11>();
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

void look(seen_call& call) {
  auto const [q, k, v, o, lse, alibi, bias, sinks, q_starts, k_starts, state] = call.all<11>();
  auto& f = call.by_query;
  f.add(!std::isfinite(call.problem<problem>().scale), TK_BAD_VALUE);
  bool const packed = call.given("q_starts") || call.given("k_starts");
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
  if (call.given("lse")) {
    call.read("lse", {rank - 1, rank - 1, takes_fp32});
    if (!packed) same_size(f, lse, 0, q, 0);
    same_size(f, lse, n, q, n + 1);
    same_size(f, lse, n + 1, q, n);
  }
  look_at_options(call, packed);
  i64 const b = packed ? q_starts.size[0] - 1 : q.size[0], nq = q.size[axis];
  bool const known = o.shaped && q.shaped && (!packed || q_starts.shaped);
  call.empty = known && (b == 0 || nq == 0 || hq == 0);
  if (!call.empty && known && k.shaped) {
    f.add(nq + k.size[axis] > largest_size, TK_UNSUPPORTED);
    auto const blocks = packed ? wide(nq / 16 + b) * hq : tiles(nq, 16) * hq * b;
    f.add(blocks > largest_size, TK_UNSUPPORTED);
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
                             {"lse", offsetof(problem, lse), true},
                             {"alibi", of_options(offsetof(options, alibi))},
                             {"bias", of_options(offsetof(options, bias))},
                             {"sinks", of_options(offsetof(options, sinks))},
                             {"q_starts", of_options(offsetof(options, q_starts))},
                             {"k_starts", of_options(offsetof(options, k_starts))},
                             {"random_state", of_options(offsetof(options, random_state))}},
                            {{offsetof(problem, mask), o::choice, 2},
                             {offsetof(problem, scale), o::factor},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved},
                             {of_options(offsetof(options, has_window_left)), o::choice, 2},
                             {of_options(offsetof(options, window_left)), o::number},
                             {of_options(offsetof(options, has_window_right)), o::choice, 2},
                             {of_options(offsetof(options, window_right)), o::number},
                             {of_options(offsetof(options, softcap)), o::factor},
                             {of_options(offsetof(options, dropout)), o::factor},
                             {of_options(offsetof(options, max_nq)), o::wide_number},
                             {of_options(offsetof(options, max_nk)), o::wide_number},
                             {of_options(offsetof(options, seed)), o::wide_number},
                             {of_options(offsetof(options, offset)), o::wide_number}},
                            make,
                            look,
                            offsetof(problem, options),
                            sizeof(options)};
  return op;
}

}  // namespace fuzz
