// SPDX-License-Identifier: MIT
// attention_backward for the fuzzer: its fields, correct problems, and what is wrong with others.
#include <cmath>

#include "ops/attention/attention_backward.h"
#include "tests/ops/attention/fuzz_options.hpp"

namespace fuzz {
namespace {

using problem = tk_attention_backward_problem;
using options = tk_attention_options;

constexpr std::size_t of_options(std::size_t offset) { return sizeof(problem) + offset; }

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
  for (auto const* name : {"q", "dq"}) operand(name, nq, hq, d);
  for (auto const* name : {"k", "dk"}) operand(name, nk, hk, d);
  for (auto const* name : {"v", "dv"}) operand(name, nk, hk, dv);
  for (auto const* name : {"o", "dout"}) operand(name, nq, hq, dv);
  if (packed) g.tensor("lse", fp32, {hq, nq});
  else g.tensor("lse", fp32, {b, hq, nq});
  problem p{};
  put(p.mask, g.flip());
  p.scale = static_cast<float>(g.number(-8, 8)) / 4;
  put(p.repeat, g.flip());
  g.fields(p);
  make_options(g, more, packed, of, {b, hq, nq, nk});
}

void look_at_gradients(seen_call& call) {
  auto const [q, k, v, o, lse, dout, dq, dk, dv, dbias, dsinks, alibi, bias, sinks, q_starts,
              k_starts, state] = call.all<17>();
  auto& f = call.by_query;
  if (call.given("dbias")) {
    f.add(!call.given("bias"), TK_BAD_VALUE);
    call.read("dbias", {4, 4, takes_any});
    if (dbias.typed && dbias.bits != 32) same_type(f, dbias, bias);
    for (int axis = 0; axis < 4; ++axis) same_size(f, dbias, axis, bias, axis);
  }
  if (call.given("dsinks")) {
    f.add(!call.given("sinks"), TK_BAD_VALUE);
    call.read("dsinks", {1, 1, takes_fp32});
    same_size(f, dsinks, 0, sinks, 0);
  }
}

void look(seen_call& call) {
  auto const [q, k, v, o, lse, dout, dq, dk, dv, dbias, dsinks, alibi, bias, sinks, q_starts,
              k_starts, state] = call.all<17>();
  auto& f = call.by_query;
  float const scale = call.problem<problem>().scale;
  f.add(!std::isfinite(scale), TK_BAD_VALUE);
  bool const packed = call.given("q_starts") || call.given("k_starts");
  int const rank = packed ? 3 : 4, n = packed ? 0 : 1;
  look_at_operands(call, packed);
  for (auto const* name : {"dout", "dq", "dk", "dv"}) call.read(name, {rank, rank, takes_halves});
  call.read("lse", {rank - 1, rank - 1, takes_fp32});
  for (auto const* t : {&dout, &dq, &dk, &dv}) same_type(f, *t, q);
  for (int axis = 0; axis < rank; ++axis) {
    same_size(f, dout, axis, o, axis);
    same_size(f, dq, axis, q, axis);
    same_size(f, dk, axis, k, axis);
    same_size(f, dv, axis, v, axis);
  }
  if (!packed) same_size(f, lse, 0, q, 0);
  same_size(f, lse, n, q, n + 1);
  same_size(f, lse, n + 1, q, n);
  look_at_options(call, packed);
  look_at_gradients(call);
  if (!q.shaped || !k.shaped || (packed && !q_starts.shaped)) return;
  auto const axis = static_cast<std::size_t>(n);
  i64 const b = packed ? q_starts.size[0] - 1 : q.size[0], nq = q.size[axis], nk = k.size[axis],
            hq = q.size[axis + 1], hk = k.size[axis + 1];
  bool const no_rows = b == 0 || hk == 0 || (nk == 0 && (nq == 0 || hq == 0));
  auto const nothing = [&](char const* name, seen_tensor const& t) {
    return !call.given(name) || (t.shaped && t.empty());
  };
  call.empty = no_rows && nothing("dbias", dbias) && nothing("dsinks", dsinks);
  if (call.empty) return;
  f.add(!(std::fabs(scale) < 0x1p126f), TK_UNSUPPORTED);
  f.add(nq + nk > largest_size, TK_UNSUPPORTED);
  f.add(packed && nq + wide(b) * 256 > largest_size, TK_UNSUPPORTED);
  auto const blocks = [&](i64 rows, i64 h) {
    return (packed ? wide(rows / 16 + b) : tiles(rows, 16)) * h;
  };
  auto const all = std::max(blocks(nq, hq), wide(hk)) + blocks(nk, hk);
  f.add(all * (packed ? 1 : b) > largest_size / 4, TK_UNSUPPORTED);
  if (call.given("dbias") && dbias.shaped)
    f.add(tiles(dbias.size[2], 16) * dbias.size[0] * dbias.size[1] * tiles(dbias.size[3], 16) >
              largest_size,
          TK_UNSUPPORTED);
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
                             {"dv", offsetof(problem, dv), true},
                             {"dbias", offsetof(problem, dbias), true},
                             {"dsinks", offsetof(problem, dsinks), true},
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
