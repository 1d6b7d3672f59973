// SPDX-License-Identifier: MIT
// add for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/add/add.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

void make(generator& g) {
  tk_add_problem p{};
  auto const shape = row_sizes(g);
  auto const of = g.half_or_fp32(), of_y = g.flip() ? of : g.half_or_fp32();
  p.alpha = g.wild_float();
  p.beta = g.flip() ? 0.f : g.wild_float();
  g.tensor("a", of, shape);
  bool const same_type = of.code == of_y.code && of.bits == of_y.bits;
  bool const on_a = same_type && g.number(0, 3) == 0, on_b = !on_a && g.number(0, 3) == 0;
  if (on_a) g.put_on("y", "a");
  else g.tensor("y", of_y, shape);
  if (on_b && p.beta != 0) {
    g.put_on("b", "y");
  } else if (p.beta != 0 || g.flip()) {
    auto few = shape;
    for (std::size_t i = 0; i + 1 < few.size(); ++i)
      if (g.flip()) few[i] = 1;
    g.tensor("b", of_y, few);
  } else {
    g.leave_out("b");
  }
  put(p.repeat, g.flip());
  g.fields(p);
}

void look(seen_call& call) {
  auto& f = call.by_query;
  auto const [a, b, y] = call.all<3>();
  call.read("a", {1, 4, takes_any});
  call.read("y", {1, 4, takes_any});
  same_rank(call, "y", "a");
  for (int axis = 0; axis < 4; ++axis) same_size(f, y, axis, a, axis);
  if (call.problem<tk_add_problem>().beta != 0) {
    call.read("b", {1, 4, takes_any});
    same_type(f, b, y);
    same_rank(call, "b", "a");
    for (int axis = 0; axis < 3; ++axis)
      if (b.size[axis] != 1) same_size(f, b, axis, a, axis);
    same_size(f, b, 3, a, 3);
  }
  look_at_size(call, a);
}

}  // namespace

fuzzed_op const& fuzzed_add() {
  using o = option_field;
  using problem = tk_add_problem;
  static fuzzed_op const op{TK_OP_ADD,
                            "tk_add",
                            call_untyped<problem, tk_add>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"a", offsetof(problem, a), false, {"y"}},
                             {"b", offsetof(problem, b), false, {"y"}},
                             {"y", offsetof(problem, y), true}},
                            {{offsetof(problem, alpha), o::factor},
                             {offsetof(problem, beta), o::factor},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved}},
                            make,
                            look};
  return op;
}

}  // namespace fuzz
