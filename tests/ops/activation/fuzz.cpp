// SPDX-License-Identifier: MIT
// activation and its backward for the fuzzer: their fields, correct problems, and what is wrong
// with others.
#include "ops/activation/activation.h"
#include "ops/activation/activation_backward.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

template <class Problem> void make_fields(generator& g, bool interleaved) {
  Problem p{};
  p.interleaved = interleaved;
  put(p.kind, static_cast<int>(g.number(0, 5)));
  put(p.repeat, g.flip());
  g.fields(p);
}

sizes twice_as_wide(sizes shape) {
  shape.back() *= 2;
  return shape;
}

// Of pairs: an even width and even strides, and pairs are aligned.
void expect_pairs(seen_call& call, seen_tensor const& x) {
  auto& f = call.by_query;
  f.add(x.shaped && x.size[3] % 2 != 0, TK_BAD_SHAPE);
  for (int axis = 0; axis < 3; ++axis) f.add(x.strided && x.stride[axis] % 2 != 0, TK_BAD_STRIDE);
  call.by_data.add(x.strided && !x.empty() && x.address % 4 != 0, TK_BAD_ALIGNMENT);
}
// `name` has one number for each pair of a.
void read_one_of_each_pair(seen_call& call, char const* name) {
  call.read(name, {1, 4, takes_any});
  auto const &x = seen(call, name), &a = seen(call, "a");
  same_rank(call, name, "a");
  for (int axis = 0; axis < 3; ++axis) same_size(call.by_query, x, axis, a, axis);
  call.by_query.add(x.shaped && a.shaped && 2 * wide(x.size[3]) != a.size[3], TK_BAD_SHAPE);
  same_type(call.by_query, x, a);
}

void make_forward(generator& g) {
  auto const shape = row_sizes(g);
  if (g.number(0, 3) == 0) {
    auto const of = g.half();
    g.tensor("a", of, twice_as_wide(shape));
    g.leave_out("b");
    g.tensor("y", of, shape);
    return make_fields<tk_activation_problem>(g, true);
  }
  auto const of = g.half_or_fp32();
  g.tensor("a", of, shape);
  if (g.flip()) g.tensor("b", of, shape);
  else g.leave_out("b");
  if (g.number(0, 2)) g.tensor("y", of, shape);
  else g.put_on("y", g.flip() && g.given("b") ? "b" : "a");
  make_fields<tk_activation_problem>(g, false);
}

void look_forward(seen_call& call) {
  bool const interleaved = call.problem<tk_activation_problem>().interleaved == 1;
  call.by_query.add(interleaved && call.given("b"), TK_BAD_VALUE);
  call.read("a", {1, 4, interleaved ? takes_halves : takes_any});
  if (call.given("b")) read_rows(call, "b", "a");
  if (interleaved) {
    expect_pairs(call, seen(call, "a"));
    read_one_of_each_pair(call, "y");
  } else {
    read_rows(call, "y", "a");
  }
  look_at_size(call, seen(call, "a"));
}

void make_backward(generator& g) {
  auto const shape = row_sizes(g);
  if (g.number(0, 3) == 0) {
    auto const of = g.half();
    g.tensor("a", of, twice_as_wide(shape));
    g.tensor("dy", of, shape);
    if (g.number(0, 2)) g.tensor("da", of, twice_as_wide(shape));
    else g.put_on("da", "a");
    for (auto const* name : {"b", "db"}) g.leave_out(name);
    return make_fields<tk_activation_backward_problem>(g, true);
  }
  auto const of = g.half_or_fp32();
  bool const gated = g.flip();
  g.tensor("a", of, shape);
  if (gated) g.tensor("b", of, shape);
  else g.leave_out("b");
  g.tensor("dy", of, shape);
  auto const output = [&](char const* name) {
    char const* const places[] = {"a", "dy", "b"};
    if (g.number(0, 2)) g.tensor(name, of, shape);
    else g.put_on(name, places[g.number(0, gated ? 2 : 1)]);
  };
  bool const both = g.flip(), first = g.flip();
  if (!gated || both || first) output("da");
  else g.leave_out("da");
  if (gated && (both || !first)) output("db");
  else g.leave_out("db");
  make_fields<tk_activation_backward_problem>(g, false);
}

void look_backward(seen_call& call) {
  bool const interleaved = call.problem<tk_activation_backward_problem>().interleaved == 1;
  call.by_query.add(interleaved && (call.given("b") || call.given("db")), TK_BAD_VALUE);
  call.by_query.add(call.given("db") && !call.given("b"), TK_NULL_POINTER);
  call.by_query.add(!call.given("da") && !call.given("db"), TK_NULL_POINTER);
  call.read("a", {1, 4, interleaved ? takes_halves : takes_any});
  if (interleaved) read_one_of_each_pair(call, "dy");
  else read_rows(call, "dy", "a");
  for (auto const* name : {"b", "da", "db"})
    if (call.given(name)) read_rows(call, name, "a");
  if (interleaved)
    for (auto const* name : {"a", "da"})
      if (call.given(name)) expect_pairs(call, seen(call, name));
  look_at_size(call, seen(call, "a"));
}

template <class Problem> std::vector<option_field> options_of() {
  using o = option_field;
  return {{offsetof(Problem, kind), o::choice, 6},
          {offsetof(Problem, reserved_kind), o::reserved},
          {offsetof(Problem, repeat), o::choice, 2},
          {offsetof(Problem, reserved), o::reserved},
          {offsetof(Problem, interleaved), o::choice, 2},
          {offsetof(Problem, reserved_interleaved), o::reserved}};
}

}  // namespace

fuzzed_op const& fuzzed_activation() {
  using problem = tk_activation_problem;
  static fuzzed_op const op{TK_OP_ACTIVATION,
                            "tk_activation",
                            call_untyped<problem, tk_activation>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"a", offsetof(problem, a), false, {"y"}},
                             {"b", offsetof(problem, b), false, {"y"}},
                             {"y", offsetof(problem, y), true}},
                            options_of<problem>(),
                            make_forward,
                            look_forward};
  return op;
}

fuzzed_op const& fuzzed_activation_backward() {
  using problem = tk_activation_backward_problem;
  static fuzzed_op const op{TK_OP_ACTIVATION_BACKWARD,
                            "tk_activation_backward",
                            call_untyped<problem, tk_activation_backward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"a", offsetof(problem, a), false, {"da", "db"}},
                             {"b", offsetof(problem, b), false, {"da", "db"}},
                             {"dy", offsetof(problem, dy), false, {"da", "db"}},
                             {"da", offsetof(problem, da), true},
                             {"db", offsetof(problem, db), true}},
                            options_of<problem>(),
                            make_backward,
                            look_backward};
  return op;
}

}  // namespace fuzz
