// SPDX-License-Identifier: MIT
// norm and its backward for the fuzzer: their fields, correct problems, and what is wrong with
// others.
#include <cmath>

#include "ops/norm/norm.h"
#include "ops/norm/norm_backward.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

template <class Problem> void make_fields(generator& g, bool drops, Problem p = {}) {
  put(p.kind, g.flip());
  p.eps = static_cast<float>(g.number(0, 8)) / 4;
  put(p.repeat, g.flip());
  if (drops) p.dropout = static_cast<float>(g.number(0, 255)) / 256;
  p.seed = static_cast<std::uint64_t>(g.number(0, 1 << 20));
  p.offset = static_cast<std::uint64_t>(g.number(0, 99));
  g.fields(p);
}
void make_state(generator& g) {
  if (g.number(0, 3) == 0) g.tensor("random_state", uint64, {2});
  else g.leave_out("random_state");
}
template <class Problem> void look_at_numbers(seen_call& call) {
  auto const p = call.problem<Problem>();
  call.by_query.add(!std::isfinite(p.eps) || p.eps < 0, TK_BAD_VALUE);
  call.by_query.add(!(p.dropout >= 0 && p.dropout * 256 <= 255), TK_BAD_VALUE);
  if (!call.given("random_state")) return;
  call.read("random_state", {1, 1, takes_64_bits});
  auto const& state = seen(call, "random_state");
  call.by_query.add(state.shaped && state.size[0] != 2, TK_BAD_SHAPE);
}
// Of the type of `like`, or fp32.
void type_or_fp32(seen_call& call, seen_tensor const& t, seen_tensor const& like) {
  if (t.bits != 32) same_type(call.by_query, t, like);
}
// A value for each column of x, whose last axis is `width`.
void look_at_columns(seen_call& call, char const* name, seen_tensor const& x, int width) {
  if (!call.given(name)) return;
  call.read(name, {1, 1, takes_any});
  auto const& t = seen(call, name);
  type_or_fp32(call, t, x);
  same_size(call.by_query, t, 0, x, width);
}

// As many scales as x has rows, or one that is given.
void make_scale(generator& g, tk_norm_problem& p, sizes const& shape) {
  bool const given = g.flip();
  put(p.y_scale_kind, given ? TK_SCALE_GIVEN : TK_SCALE_ROW);
  p.power_of_two = !given && g.flip();
  if (given) g.tensor("y_scale", fp32, g.flip() ? sizes{1} : sizes{});
  else g.tensor("y_scale", fp32, {shape.begin(), shape.end() - 1});
}
int scale_kind_of(tk_norm_problem const& p) {  // any number, as C would give it
  int kind;
  std::memcpy(&kind, &p.y_scale_kind, sizeof kind);
  return kind;
}
void look_at_fp8(seen_call& call, bool fp8, seen_tensor const& x, seen_tensor const& stream) {
  auto& f = call.by_query;
  auto const p = call.problem<tk_norm_problem>();
  int const kind = scale_kind_of(p);
  if (!fp8) {
    f.add(call.given("y_scale"), TK_BAD_TYPE);
    return f.add(kind != 0 || p.power_of_two != 0, TK_BAD_VALUE);
  }
  bool const one = kind == TK_SCALE_GIVEN;
  f.add(x.typed && x.bits == 32, TK_BAD_TYPE);
  f.add(stream.typed && stream.bits == 32, TK_BAD_TYPE);
  f.add(p.dropout >= 0 && std::lround(256 * p.dropout) > 0, TK_UNSUPPORTED);
  f.add((kind != TK_SCALE_ROW && !one) || (one && p.power_of_two != 0), TK_BAD_VALUE);
  call.read("y_scale", {0, one ? 1 : 3, takes_fp32, true});
  auto const i = call.index("y_scale"), of_x = call.index("x");
  auto const& scale = call.tensors[i];
  if (one) return f.add(scale.shaped && scale.size[0] != 1, TK_BAD_SHAPE);
  bool const shaped = scale.shaped && x.shaped;
  f.add(shaped && call.spec->tensors[i].ndim != call.spec->tensors[of_x].ndim - 1, TK_BAD_RANK);
  for (int axis = 0; axis < 3; ++axis) same_size(f, scale, axis, x, axis);
}

void make_forward(generator& g) {
  auto const shape = row_sizes(g);
  auto const of = g.half_or_fp32(), scale = g.flip() ? of : fp32, stream = g.flip() ? of : fp32;
  auto const like_x = [&] {  // leading sizes of 1 come and go
    auto given = shape;
    while (given.size() > 1 && given[0] == 1 && g.flip()) given.erase(given.begin());
    if (given.size() < 4 && g.number(0, 7) == 0) given.insert(given.begin(), 1);
    return given;
  };
  auto const in_or_out = [&](char const* name, auto const& make) {
    if (g.flip()) make(name);
    else g.leave_out(name);
  };
  auto const of_scale = [&](char const* name) { g.tensor(name, scale, {shape.back()}); };
  auto const output = [&](char const* name, type is) {
    bool const on_residual = g.flip() && g.given("residual");
    bool const alike = is.bits == (on_residual ? stream : of).bits;
    if (g.number(0, 2) || !alike) g.tensor(name, is, like_x());
    else g.put_on(name, on_residual ? "residual" : "x");
  };
  auto const of_x = like_x();
  g.tensor("x", of, of_x);
  in_or_out("residual", [&](char const* name) { g.tensor(name, stream, like_x()); });
  in_or_out("weight", of_scale);
  in_or_out("bias", of_scale);
  bool const to_fp8 = of.bits == 16 && stream.bits == 16 && g.flip();
  if (to_fp8) g.tensor("y", g.flip() ? fp8_e4m3 : fp8_e5m2, like_x());
  else output("y", of);
  in_or_out("r", [&](char const* name) { output(name, stream); });
  make_state(g);
  tk_norm_problem p{};
  if (to_fp8) make_scale(g, p, of_x);
  else g.leave_out("y_scale");
  make_fields(g, !to_fp8 && g.flip(), p);
}

void look_forward(seen_call& call) {
  look_at_numbers<tk_norm_problem>(call);
  auto const [x, residual, weight, bias, y, r, state, scale] = call.all<8>();
  auto& f = call.by_query;
  for (auto const* name : {"x", "y", "residual", "r"}) {
    bool const optional = name[0] == 'r';
    if (optional && !call.given(name)) continue;
    bool const is_y = name[0] == 'y';
    call.read(name, {1, 4, is_y ? takes_any | takes_fp8 : takes_any});
    auto const& t = seen(call, name);
    if (optional) type_or_fp32(call, t, x);
    else if (!is_y || t.bits != 8) same_type(f, t, x);
    for (int axis = 0; axis < 4; ++axis) same_size(f, t, axis, x, axis);
  }
  look_at_columns(call, "weight", x, 3);
  look_at_columns(call, "bias", x, 3);
  same_type(f, weight, bias);
  same_type(f, residual, r);
  bool const fp8 = y.typed && y.bits == 8;
  look_at_fp8(call, fp8, x, call.given("residual") ? residual : r);
  look_at_size(call, x);
  if (!call.empty || !fp8 || scale_kind_of(call.problem<tk_norm_problem>()) != TK_SCALE_ROW) return;
  // Rows without columns have scales.
  wide const rows = wide(x.size[0]) * x.size[1] * x.size[2];
  call.empty = rows == 0;
  f.add(rows > (wide(1) << 31) - 65537, TK_UNSUPPORTED);
}

void make_backward(generator& g) {
  auto const shape = row_sizes(g);
  auto const of = g.half_or_fp32(), sums = g.flip() ? of : fp32, stream = g.flip() ? of : fp32;
  auto const by_columns = [&](char const* name, type is) {
    if (g.flip()) g.tensor(name, is, {shape.back()});
    else g.leave_out(name);
  };
  g.tensor("r", stream, shape);
  g.tensor("dy", of, shape);
  by_columns("weight", g.flip() ? of : fp32);
  if (g.flip()) g.tensor("dr", stream, shape);
  else g.leave_out("dr");
  auto const in_place = g.number(0, 5);
  bool const alike = of.bits == stream.bits;
  if (in_place == 0 && alike) g.put_on("dx", "r");
  else if (in_place == 1) g.put_on("dx", "dy");
  else if (in_place == 2 && alike && g.given("dr")) g.put_on("dx", "dr");
  else g.tensor("dx", of, shape);
  by_columns("dweight", sums);
  by_columns("dbias", sums);
  bool const other = g.flip();  // than dx
  if (other) g.tensor("dresidual", stream, shape);
  else g.leave_out("dresidual");
  make_state(g);
  make_fields<tk_norm_backward_problem>(g, other && g.flip());
}

// Without rows there are sums to write, and no limit of rows.
void look_backward(seen_call& call) {
  look_at_numbers<tk_norm_backward_problem>(call);
  call.read("r", {1, 4, takes_any});
  auto const [r, dy, weight, dr, dx, dweight, dbias, dresidual, state] = call.all<9>();
  read_rows_of_size(call, "dy", "r");
  type_or_fp32(call, r, dy);
  read_rows_of_size(call, "dx", "r");
  same_type(call.by_query, dx, dy);
  for (auto const* name : {"dr", "dresidual"})
    if (call.given(name)) read_rows(call, name, "r");
  auto const dropout = call.problem<tk_norm_backward_problem>().dropout;
  call.by_query.add(!call.given("dresidual") && std::lround(256 * dropout) > 0, TK_NULL_POINTER);
  for (auto const* name : {"weight", "dweight", "dbias"}) look_at_columns(call, name, dy, 3);
  same_type(call.by_query, dbias, dweight);
  look_at_size(call, r);
  if (!call.empty || r.size[3] == 0) return;
  call.empty = !call.given("dweight") && !call.given("dbias");
  call.by_query.add(!call.empty && r.size[3] > (i64(1) << 31) - 65537, TK_UNSUPPORTED);
}

template <class Problem> std::vector<option_field> options_of() {
  using o = option_field;
  return {{offsetof(Problem, kind), o::choice, 2},   {offsetof(Problem, eps), o::factor},
          {offsetof(Problem, repeat), o::choice, 2}, {offsetof(Problem, reserved), o::reserved},
          {offsetof(Problem, dropout), o::factor},   {offsetof(Problem, reserved2), o::reserved},
          {offsetof(Problem, seed), o::wide_number}, {offsetof(Problem, offset), o::wide_number}};
}

std::vector<option_field> forward_options() {
  auto all = options_of<tk_norm_problem>();
  all.push_back({offsetof(tk_norm_problem, y_scale_kind), option_field::choice, 5});
  all.push_back({offsetof(tk_norm_problem, power_of_two), option_field::choice, 2});
  return all;
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
                             {"r", offsetof(problem, r), true},
                             {"random_state", offsetof(problem, random_state)},
                             {"y_scale", offsetof(problem, y_scale), true}},
                            forward_options(),
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
                            {{"r", offsetof(problem, r), false, {"dx", "dresidual"}},
                             {"dy", offsetof(problem, dy), false, {"dx", "dresidual"}},
                             {"weight", offsetof(problem, weight)},
                             {"dr", offsetof(problem, dr), false, {"dx", "dresidual"}},
                             {"dx", offsetof(problem, dx), true},
                             {"dweight", offsetof(problem, dweight), true},
                             {"dbias", offsetof(problem, dbias), true},
                             {"dresidual", offsetof(problem, dresidual), true},
                             {"random_state", offsetof(problem, random_state)}},
                            options_of<problem>(),
                            make_backward,
                            look_backward};
  return op;
}

}  // namespace fuzz
