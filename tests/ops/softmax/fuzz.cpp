// SPDX-License-Identifier: MIT
// softmax and its backward for the fuzzer: their fields, correct problems, and what is wrong with
// others.
#include <cmath>

#include "ops/softmax/softmax.h"
#include "ops/softmax/softmax_backward.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

template <class Problem> void make_fields(generator& g) {
  Problem p{};
  put(p.mask, g.flip());
  p.scale = static_cast<float>(g.number(-8, 8)) / 4;
  put(p.repeat, g.flip());
  g.fields(p);
}

void make_forward(generator& g) {
  auto const shape = row_sizes(g);
  auto const of = g.half_or_fp32();
  g.tensor("x", of, shape);
  if (g.number(0, 2)) g.tensor("y", of, shape);
  else g.put_on("y", "x");
  if (g.flip()) {
    auto few = shape;
    for (std::size_t i = 0; i + 1 < few.size(); ++i)
      if (g.flip()) few[i] = 1;
    g.tensor("bias", g.flip() ? of : fp32, few);
  } else {
    g.leave_out("bias");
  }
  if (g.number(0, 2) == 0) {
    auto few = shape;
    for (std::size_t i = 0; i + 1 < few.size(); ++i)
      if (g.flip()) few[i] = 1;
    g.tensor("bool_mask", g.flip() ? boolean : uint8, few);
  } else {
    g.leave_out("bool_mask");
  }
  make_fields<tk_softmax_problem>(g);
}

void look_forward(seen_call& call) {
  auto& f = call.by_query;
  f.add(!std::isfinite(call.problem<tk_softmax_problem>().scale), TK_BAD_VALUE);
  auto const [x, bias, y, bool_mask] = call.all<4>();
  call.read("x", {1, 4, takes_any});
  read_rows(call, "y", "x");
  if (call.given("bias")) {
    call.read("bias", {1, 4, takes_any});
    if (bias.bits != 32) same_type(f, bias, x);
    same_rank(call, "bias", "x");
    for (int axis = 0; axis < 3; ++axis)
      if (bias.size[axis] != 1) same_size(f, bias, axis, x, axis);
    same_size(f, bias, 3, x, 3);
  }
  if (call.given("bool_mask")) {
    call.read("bool_mask", {1, 4, takes_booleans});
    same_rank(call, "bool_mask", "x");
    for (int axis = 0; axis < 3; ++axis)
      if (bool_mask.size[axis] != 1) same_size(f, bool_mask, axis, x, axis);
    same_size(f, bool_mask, 3, x, 3);
  }
  look_at_size(call, x);
}

void make_backward(generator& g) {
  auto const shape = row_sizes(g);
  auto const of = g.half_or_fp32();
  g.tensor("y", of, shape);
  g.tensor("dy", of, shape);
  auto const output = [&](char const* name) {
    if (g.number(0, 2)) g.tensor(name, of, shape);
    else g.put_on(name, g.flip() ? "y" : "dy");
  };
  output("dx");
  if (g.flip()) output("dbias");
  else g.leave_out("dbias");
  make_fields<tk_softmax_backward_problem>(g);
}

void look_backward(seen_call& call) {
  auto const scale = call.problem<tk_softmax_backward_problem>().scale;
  call.by_query.add(!std::isfinite(scale), TK_BAD_VALUE);
  call.read("y", {1, 4, takes_any});
  read_rows(call, "dy", "y");
  read_rows(call, "dx", "y");
  if (call.given("dbias")) read_rows(call, "dbias", "y");
  look_at_size(call, seen(call, "y"));
}

template <class Problem> std::vector<option_field> options_of() {
  using o = option_field;
  return {{offsetof(Problem, mask), o::choice, 2},
          {offsetof(Problem, scale), o::factor},
          {offsetof(Problem, repeat), o::choice, 2},
          {offsetof(Problem, reserved), o::reserved}};
}

}  // namespace

fuzzed_op const& fuzzed_softmax() {
  using problem = tk_softmax_problem;
  static fuzzed_op const op{TK_OP_SOFTMAX,
                            "tk_softmax",
                            call_untyped<problem, tk_softmax>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"x", offsetof(problem, x), false, {"y"}},
                             {"bias", offsetof(problem, bias)},
                             {"y", offsetof(problem, y), true},
                             {"bool_mask", offsetof(problem, bool_mask)}},
                            options_of<problem>(),
                            make_forward,
                            look_forward};
  return op;
}

fuzzed_op const& fuzzed_softmax_backward() {
  using problem = tk_softmax_backward_problem;
  static fuzzed_op const op{TK_OP_SOFTMAX_BACKWARD,
                            "tk_softmax_backward",
                            call_untyped<problem, tk_softmax_backward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"y", offsetof(problem, y), false, {"dx", "dbias"}},
                             {"dy", offsetof(problem, dy), false, {"dx", "dbias"}},
                             {"dx", offsetof(problem, dx), true},
                             {"dbias", offsetof(problem, dbias), true}},
                            options_of<problem>(),
                            make_backward,
                            look_backward};
  return op;
}

}  // namespace fuzz
