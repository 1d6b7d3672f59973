// SPDX-License-Identifier: MIT
// topk for the fuzzer: its fields, correct problems, and what is wrong with others.
#include <algorithm>

#include "ops/topk/topk.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

void make(generator& g) {
  auto const of = g.half_or_fp32();
  auto shape = row_sizes(g);
  g.tensor("x", of, shape);
  i64 const width = shape.back(), k = std::min(width, g.flip() ? g.number(0, 9) : g.size());
  shape.back() = k;
  auto const given = g.number(1, 3);
  if (given & 1) g.tensor("values", of, shape);
  else g.leave_out("values");
  if (given & 2) g.tensor("indices", g.flip() ? int32 : int64, shape);
  else g.leave_out("indices");
  tk_topk_problem p{};
  p.smallest = g.flip();
  put(p.repeat, g.flip());
  g.fields(p);
}

void look_at_result(seen_call& call, char const* name, unsigned types) {
  auto& f = call.by_query;
  call.read(name, {1, 4, types});
  same_rank(call, name, "x");
  auto const &t = seen(call, name), &x = seen(call, "x");
  for (int axis = 0; axis < 3; ++axis) same_size(f, t, axis, x, axis);
  if (!t.shaped) return;
  f.add(x.shaped && t.size[3] > x.size[3], TK_BAD_SHAPE);
  call.empty = t.empty();
  f.add(!call.empty && t.size[3] > 1024, TK_UNSUPPORTED);
}

void look(seen_call& call) {
  auto& f = call.by_query;
  bool const values = call.given("values"), indices = call.given("indices");
  f.add(!values && !indices, TK_NULL_POINTER);
  call.read("x", {1, 4, takes_any});
  auto const& x = seen(call, "x");
  if (indices) look_at_result(call, "indices", takes_int32 | takes_int64);
  if (values) {
    look_at_result(call, "values", takes_any);
    same_type(f, seen(call, "values"), x);
  }
  if (values && indices) same_size(f, seen(call, "indices"), 3, seen(call, "values"), 3);
  bool const empty = call.empty;
  if (!empty) look_at_size(call, x);
  call.empty = empty;
}

}  // namespace

fuzzed_op const& fuzzed_topk() {
  using o = option_field;
  using problem = tk_topk_problem;
  static fuzzed_op const op{TK_OP_TOPK,
                            "tk_topk",
                            call_untyped<problem, tk_topk>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"x", offsetof(problem, x)},
                             {"values", offsetof(problem, values), true},
                             {"indices", offsetof(problem, indices), true}},
                            {{offsetof(problem, smallest), o::choice, 2},
                             {offsetof(problem, reserved2), o::reserved},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved}},
                            make,
                            look};
  return op;
}

}  // namespace fuzz
