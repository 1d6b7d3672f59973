// SPDX-License-Identifier: MIT
// norm and its backward for the fuzzer: their fields, correct problems, and what is wrong with
// others.
#include <cmath>

#include "ops/norm/norm.h"
#include "ops/norm/norm_backward.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

template <class Problem> void make_fields(generator& g) {
  Problem p{};
  put(p.kind, g.flip());
  p.eps = static_cast<float>(g.number(0, 8)) / 4;
  put(p.repeat, g.flip());
  g.fields(p);
}
template <class Problem> void look_at_eps(seen_call& call) {
  auto const eps = call.problem<Problem>().eps;
  call.by_query.add(!std::isfinite(eps) || eps < 0, TK_BAD_VALUE);
}
// A value for each column of x, whose last axis is `width`.
void look_at_columns(seen_call& call, char const* name, seen_tensor const& x, int width) {
  if (!call.given(name)) return;
  call.read(name, {1, 1, takes_any});
  auto const& t = call.tensors[call.index(name)];
  if (t.bits != 32) same_type(call.by_query, t, x);
  same_size(call.by_query, t, 0, x, width);
}

void make_forward(generator& g) {
  i64 const rows = g.size(), width = g.size();
  auto const of = g.half_or_fp32(), scale = g.flip() ? of : fp32;
  auto const matrix = [&] { return rows == 1 && g.flip() ? sizes{width} : sizes{rows, width}; };
  auto const in_or_out = [&](char const* name, auto const& make) {
    if (g.flip()) make(name);
    else g.leave_out(name);
  };
  auto const of_scale = [&](char const* name) { g.tensor(name, scale, {width}); };
  auto const output = [&](char const* name) {
    if (g.number(0, 2)) g.tensor(name, of, matrix());
    else g.put_on(name, g.flip() && g.given("residual") ? "residual" : "x");
  };
  g.tensor("x", of, matrix());
  in_or_out("residual", [&](char const* name) { g.tensor(name, of, matrix()); });
  in_or_out("weight", of_scale);
  in_or_out("bias", of_scale);
  output("y");
  in_or_out("r", output);
  make_fields<tk_norm_problem>(g);
}

void look_forward(seen_call& call) {
  look_at_eps<tk_norm_problem>(call);
  constexpr std::int64_t longest = (std::int64_t(1) << 31) - 65537;
  auto const [x, residual, weight, bias, y, r] = call.all<6>();
  auto& f = call.by_query;
  for (auto const* name : {"x", "y", "residual", "r"}) {
    bool const optional = name[0] == 'r';
    if (optional && !call.given(name)) continue;
    call.read(name, {1, 2, takes_any});
    auto const& t = call.tensors[call.index(name)];
    same_type(f, t, x);
    same_size(f, t, 0, x, 0);
    same_size(f, t, 1, x, 1);
  }
  look_at_columns(call, "weight", x, 1);
  look_at_columns(call, "bias", x, 1);
  same_type(f, weight, bias);
  call.empty = x.shaped && x.empty();
  if (!call.empty && x.shaped) f.add(x.size[0] > longest || x.size[1] > longest, TK_UNSUPPORTED);
}

void make_backward(generator& g) {
  auto const shape = row_sizes(g);
  auto const of = g.half_or_fp32(), sums = g.flip() ? of : fp32;
  auto const by_columns = [&](char const* name, type is) {
    if (g.flip()) g.tensor(name, is, {shape.back()});
    else g.leave_out(name);
  };
  g.tensor("r", of, shape);
  g.tensor("dy", of, shape);
  by_columns("weight", g.flip() ? of : fp32);
  if (g.flip()) g.tensor("dr", of, shape);
  else g.leave_out("dr");
  auto const in_place = g.number(0, 5);
  if (in_place == 0) g.put_on("dx", "r");
  else if (in_place == 1) g.put_on("dx", "dy");
  else if (in_place == 2 && g.given("dr")) g.put_on("dx", "dr");
  else g.tensor("dx", of, shape);
  by_columns("dweight", sums);
  by_columns("dbias", sums);
  make_fields<tk_norm_backward_problem>(g);
}

// Without rows there are sums to write, and no limit of rows.
void look_backward(seen_call& call) {
  look_at_eps<tk_norm_backward_problem>(call);
  call.read("r", {1, 4, takes_any});
  auto const [r, dy, weight, dr, dx, dweight, dbias] = call.all<7>();
  read_rows(call, "dy", "r");
  read_rows(call, "dx", "r");
  if (call.given("dr")) read_rows(call, "dr", "r");
  for (auto const* name : {"weight", "dweight", "dbias"}) look_at_columns(call, name, r, 3);
  same_type(call.by_query, dbias, dweight);
  look_at_size(call, r);
  if (!call.empty || r.size[3] == 0) return;
  call.empty = !call.given("dweight") && !call.given("dbias");
  call.by_query.add(!call.empty && r.size[3] > (i64(1) << 31) - 65537, TK_UNSUPPORTED);
}

template <class Problem> std::vector<option_field> options_of() {
  using o = option_field;
  return {{offsetof(Problem, kind), o::choice, 2},
          {offsetof(Problem, eps), o::factor},
          {offsetof(Problem, repeat), o::choice, 2},
          {offsetof(Problem, reserved), o::reserved}};
}

}  // namespace

fuzzed_op const& fuzzed_norm() {
  using problem = tk_norm_problem;
  static fuzzed_op const op{TK_OP_NORM,
                            "tk_norm",
                            call_untyped<problem, tk_norm>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"x", offsetof(problem, x), false, {"y", "r"}},
                             {"residual", offsetof(problem, residual), false, {"y", "r"}},
                             {"weight", offsetof(problem, weight)},
                             {"bias", offsetof(problem, bias)},
                             {"y", offsetof(problem, y), true},
                             {"r", offsetof(problem, r), true}},
                            options_of<problem>(),
                            make_forward,
                            look_forward};
  return op;
}

fuzzed_op const& fuzzed_norm_backward() {
  using problem = tk_norm_backward_problem;
  static fuzzed_op const op{TK_OP_NORM_BACKWARD,
                            "tk_norm_backward",
                            call_untyped<problem, tk_norm_backward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"r", offsetof(problem, r), false, {"dx"}},
                             {"dy", offsetof(problem, dy), false, {"dx"}},
                             {"weight", offsetof(problem, weight)},
                             {"dr", offsetof(problem, dr), false, {"dx"}},
                             {"dx", offsetof(problem, dx), true},
                             {"dweight", offsetof(problem, dweight), true},
                             {"dbias", offsetof(problem, dbias), true}},
                            options_of<problem>(),
                            make_backward,
                            look_backward};
  return op;
}

}  // namespace fuzz
