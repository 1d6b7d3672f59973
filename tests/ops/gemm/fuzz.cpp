// SPDX-License-Identifier: MIT
// gemm for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/gemm/gemm.h"

#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz {
namespace {

using problem = tk_gemm_problem;

void make(generator& g) {
  problem p{};
  i64 const m = g.size(), n = g.size(), k = g.number(0, 7) ? g.size() : g.number(700, 5000);
  i64 const batch = g.huge() ? g.size() : g.number(0, 2) ? g.number(1, 3) : 1;
  auto const matrix = [&](i64 rows, i64 cols, bool may_share) {
    sizes shape{rows, cols};
    bool const shares = may_share && g.flip();
    if (batch > 1 ? !shares || g.flip() : g.flip()) shape.insert(shape.begin(), shares ? 1 : batch);
    return shape;
  };
  p.transpose_a = g.flip(), p.transpose_b = g.flip();
  auto const in = g.half(), out = g.half_or_fp32();
  g.tensor("a", in, p.transpose_a ? matrix(k, m, true) : matrix(m, k, true));
  g.tensor("b", in, p.transpose_b ? matrix(n, k, true) : matrix(k, n, true));
  g.tensor("d", out, matrix(m, n, false));
  p.alpha = g.wild_float();
  p.beta = g.flip() ? 0.f : g.wild_float();
  if (p.beta != 0 && g.number(0, 3) == 0) g.put_on("c", "d");
  else if (p.beta != 0 || g.flip()) g.tensor("c", out, matrix(m, n, true));
  else g.leave_out("c");
  auto const kind = static_cast<int>(g.number(0, 2));
  if (kind == TK_BIAS_NONE) g.leave_out("bias");
  else g.tensor("bias", g.flip() ? fp32 : out, {kind == TK_BIAS_ROW ? n : m});
  put(p.bias_kind, kind);
  put(p.activation, static_cast<int>(g.number(0, 4)));
  put(p.repeat, g.flip());
  g.fields(p);
}

void look(seen_call& call) {
  auto const p = call.problem<problem>();
  auto const [a, b, c, bias, d] = call.all<5>();
  auto& f = call.by_query;
  call.read("a", {2, 3, takes_halves});
  call.read("b", {2, 3, takes_halves});
  call.read("d", {2, 3, takes_any});
  same_type(f, a, b);
  int const ta = p.transpose_a, tb = p.transpose_b;
  if ((ta | tb) >> 1 == 0) {  // both are 0 or 1
    same_size(f, b, 1 + tb, a, 2 - ta);
    same_size(f, d, 1, a, 1 + ta);
    same_size(f, d, 2, b, 2 - tb);
  }
  if (p.beta != 0) {
    call.read("c", {2, 3, takes_any});
    same_type(f, c, d);
    same_size(f, c, 1, d, 1);
    same_size(f, c, 2, d, 2);
  }
  for (auto const* t : {&a, &b, &c})
    if (t->looked_at && t->size[0] != 1) same_size(f, *t, 0, d, 0);
  int const kind = number_in(p.bias_kind);
  if (kind == TK_BIAS_NONE) f.add(call.given("bias"), TK_BAD_VALUE);
  if (kind == TK_BIAS_ROW || kind == TK_BIAS_COLUMN) {
    call.read("bias", {1, 1, takes_any});
    if (bias.bits != 32) same_type(f, bias, d);
    same_size(f, bias, 0, d, kind == TK_BIAS_ROW ? 2 : 1);
  }
  call.empty = d.shaped && d.empty();
  if (d.shaped)
    f.add(tiles(d.size[1], 64) * tiles(d.size[2], 64) * d.size[0] > largest_size, TK_UNSUPPORTED);
}

}  // namespace

fuzzed_op const& fuzzed_gemm() {
  using o = option_field;
  static fuzzed_op const op{TK_OP_GEMM,
                            "tk_gemm",
                            call_untyped<problem, tk_gemm>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"a", offsetof(problem, a)},
                             {"b", offsetof(problem, b)},
                             {"c", offsetof(problem, c), false, {"d"}},
                             {"bias", offsetof(problem, bias)},
                             {"d", offsetof(problem, d), true}},
                            {{offsetof(problem, transpose_a), o::choice, 2},
                             {offsetof(problem, transpose_b), o::choice, 2},
                             {offsetof(problem, alpha), o::factor},
                             {offsetof(problem, beta), o::factor},
                             {offsetof(problem, bias_kind), o::choice, 3},
                             {offsetof(problem, activation), o::choice, 5},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved}},
                            make,
                            look};
  return op;
}

}  // namespace fuzz
