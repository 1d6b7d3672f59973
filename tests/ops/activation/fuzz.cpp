// SPDX-License-Identifier: MIT
// activation and its backward for the fuzzer: their fields, correct problems, and what is wrong
// with others.
#include "ops/activation/activation.h"
#include "ops/activation/activation_backward.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

template <class Problem> void make_fields(generator& g) {
  Problem p{};
  put(p.kind, static_cast<int>(g.number(0, 5)));
  put(p.repeat, g.flip());
  g.fields(p);
}

void make_forward(generator& g) {
  auto const shape = row_sizes(g);
  auto const of = g.half_or_fp32();
  g.tensor("a", of, shape);
  if (g.flip()) g.tensor("b", of, shape);
  else g.leave_out("b");
  if (g.number(0, 2)) g.tensor("y", of, shape);
  else g.put_on("y", g.flip() && g.given("b") ? "b" : "a");
  make_fields<tk_activation_problem>(g);
}

void look_forward(seen_call& call) {
  call.read("a", {1, 4, takes_any});
  if (call.given("b")) read_rows(call, "b", "a");
  read_rows(call, "y", "a");
  look_at_size(call, call.tensors[call.index("a")]);
}

void make_backward(generator& g) {
  auto const shape = row_sizes(g);
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
  make_fields<tk_activation_backward_problem>(g);
}

void look_backward(seen_call& call) {
  call.by_query.add(call.given("db") && !call.given("b"), TK_NULL_POINTER);
  call.by_query.add(!call.given("da") && !call.given("db"), TK_NULL_POINTER);
  call.read("a", {1, 4, takes_any});
  read_rows(call, "dy", "a");
  for (auto const* name : {"b", "da", "db"})
    if (call.given(name)) read_rows(call, name, "a");
  look_at_size(call, call.tensors[call.index("a")]);
}

template <class Problem> std::vector<option_field> options_of() {
  using o = option_field;
  return {{offsetof(Problem, kind), o::choice, 6},
          {offsetof(Problem, reserved_kind), o::reserved},
          {offsetof(Problem, repeat), o::choice, 2},
          {offsetof(Problem, reserved), o::reserved}};
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
