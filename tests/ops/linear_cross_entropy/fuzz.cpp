// SPDX-License-Identifier: MIT
// linear_cross_entropy for the fuzzer: its fields, correct problems, and what is wrong with others.
#include <algorithm>
#include <cmath>

#include "ops/linear_cross_entropy/linear_cross_entropy.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

void make(generator& g) {
  auto const of = g.half();
  i64 const rows = g.size(), d = g.number(0, 40);
  i64 const vocab = g.number(0, 7) ? g.number(1, 60) : g.number(0, (1 << 24) + 1);
  g.tensor("x", of, {rows, d});
  g.tensor("w", of, {vocab, d});
  g.tensor("labels", g.flip() ? int32 : int64, {rows});
  g.tensor("loss", fp32, {rows});
  auto const maybe = [&](char const* name, type t, sizes const& shape) {
    if (g.flip()) g.tensor(name, t, shape);
    else g.leave_out(name);
  };
  maybe("lse", fp32, {rows});
  maybe("dx", g.flip() ? fp32 : of, {rows, d});
  maybe("dw", g.flip() ? fp32 : of, {vocab, d});
  tk_linear_cross_entropy_problem p{};
  p.has_ignore_index = g.flip();
  if (p.has_ignore_index) p.ignore_index = g.flip() ? -100 : g.number(0, 5);
  p.chunk_rows = g.flip() ? 0 : g.number(0, 100);
  p.label_smoothing = static_cast<float>(g.number(0, 7)) / 8;
  p.z_loss = static_cast<float>(g.number(0, 4)) / 16;
  p.softcap = g.flip() ? static_cast<float>(g.number(1, 60)) : 0;
  p.dloss_scale = static_cast<float>(g.number(-8, 8)) / 4;
  put(p.repeat, g.flip());
  g.fields(p);
}

void look_at_options(seen_call& call) {
  auto& f = call.by_query;
  auto const p = call.problem<tk_linear_cross_entropy_problem>();
  f.add(p.has_ignore_index == 0 && p.ignore_index != 0, TK_BAD_VALUE);
  f.add(!(p.label_smoothing >= 0 && p.label_smoothing < 1), TK_BAD_VALUE);
  f.add(!(p.z_loss >= 0 && std::isfinite(p.z_loss)), TK_BAD_VALUE);
  f.add(p.softcap != 0 && !(p.softcap >= 0x1p-64f && p.softcap <= 0x1p64f), TK_BAD_VALUE);
  f.add(!std::isfinite(p.dloss_scale), TK_BAD_VALUE);
  f.add(p.chunk_rows < 0, TK_BAD_VALUE);
}

void look(seen_call& call) {
  auto& f = call.by_query;
  look_at_options(call);
  call.read("x", {2, 2, takes_halves});
  call.read("w", {2, 2, takes_halves});
  auto const &x = seen(call, "x"), &w = seen(call, "w");
  same_type(f, w, x);
  same_size(f, w, 1, x, 1);
  auto const numbers = [&](char const* name, unsigned types) {
    call.read(name, {1, 1, types, true});
    same_size(f, seen(call, name), 0, x, 0);
  };
  numbers("labels", takes_int32 | takes_int64);
  numbers("loss", takes_fp32);
  if (call.given("lse")) numbers("lse", takes_fp32);
  auto const gradient = [&](char const* name, seen_tensor const& like) {
    if (!call.given(name)) return;
    call.read(name, {2, 2, takes_any});
    auto const& t = seen(call, name);
    if (t.typed && !(t.code == kDLFloat && t.bits == 32)) same_type(f, t, like);
    for (int axis = 0; axis < 2; ++axis) same_size(f, t, axis, like, axis);
  };
  gradient("dx", x);
  gradient("dw", w);
  if (!x.shaped || !w.shaped) return;
  auto const& dw = seen(call, "dw");
  call.empty = x.size[0] == 0 && !(call.given("dw") && dw.shaped && !dw.empty());
  constexpr wide longest = (wide(1) << 31) - 65537;
  f.add(x.size[0] > 0 && (x.size[0] > longest || w.size[0] == 0 || w.size[0] > 1 << 24),
        TK_UNSUPPORTED);
  // The products that it is made of count their tiles: dw's, and those of some of the rows.
  auto const too_many = [](std::int64_t m, std::int64_t n) {
    return tiles(m, 64) * tiles(n, 64) > largest_size;
  };
  f.add(call.given("dw") && too_many(w.size[0], w.size[1]), TK_UNSUPPORTED);
  if (too_many(x.size[0], std::max(w.size[0], w.size[1]))) f.may |= bit(TK_UNSUPPORTED);
}

}  // namespace

fuzzed_op const& fuzzed_linear_cross_entropy() {
  using o = option_field;
  using problem = tk_linear_cross_entropy_problem;
  static fuzzed_op const op{TK_OP_LINEAR_CROSS_ENTROPY,
                            "tk_linear_cross_entropy",
                            call_untyped<problem, tk_linear_cross_entropy>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"x", offsetof(problem, x)},
                             {"w", offsetof(problem, w)},
                             {"labels", offsetof(problem, labels)},
                             {"loss", offsetof(problem, loss), true},
                             {"lse", offsetof(problem, lse), true},
                             {"dx", offsetof(problem, dx), true},
                             {"dw", offsetof(problem, dw), true}},
                            {{offsetof(problem, ignore_index), o::wide_number},
                             {offsetof(problem, chunk_rows), o::wide_number},
                             {offsetof(problem, has_ignore_index), o::choice, 2},
                             {offsetof(problem, reserved2), o::reserved},
                             {offsetof(problem, label_smoothing), o::factor},
                             {offsetof(problem, z_loss), o::factor},
                             {offsetof(problem, softcap), o::factor},
                             {offsetof(problem, dloss_scale), o::factor},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved}},
                            make,
                            look};
  return op;
}

}  // namespace fuzz
