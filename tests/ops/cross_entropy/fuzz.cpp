// SPDX-License-Identifier: MIT
// cross_entropy and its backward for the fuzzer: their fields, correct problems, and what is wrong
// with others.
#include <cmath>

#include "ops/cross_entropy/cross_entropy.h"
#include "ops/cross_entropy/cross_entropy_backward.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

// Sizes of logits, of which the last is at least 1 where there are rows, nearly always.
sizes logit_sizes(generator& g) {
  auto shape = row_sizes(g);
  if (shape.back() == 0 && g.number(0, 7)) shape.back() = 1;
  if (shape.back() > 1 << 24 && g.number(0, 7)) shape.back() = 1 << 24;
  return shape;
}
sizes without_last(sizes shape) {
  shape.pop_back();
  return shape;
}

template <class Problem> Problem make_options(generator& g) {
  Problem p{};
  p.has_ignore_index = g.flip();
  if (p.has_ignore_index) p.ignore_index = g.flip() ? -100 : g.number(0, 5);
  p.label_smoothing = static_cast<float>(g.number(0, 7)) / 8;
  p.z_loss = static_cast<float>(g.number(0, 4)) / 16;
  p.softcap = g.flip() ? static_cast<float>(g.number(1, 60)) : 0;
  put(p.repeat, g.flip());
  return p;
}
template <class Problem> void look_at_terms(seen_call& call) {
  auto& f = call.by_query;
  auto const p = call.problem<Problem>();
  f.add(p.has_ignore_index == 0 && p.ignore_index != 0, TK_BAD_VALUE);
  f.add(!(p.label_smoothing >= 0 && p.label_smoothing < 1), TK_BAD_VALUE);
  f.add(!(p.z_loss >= 0 && std::isfinite(p.z_loss)), TK_BAD_VALUE);
  f.add(p.softcap != 0 && !(p.softcap >= 0x1p-64f && p.softcap <= 0x1p64f), TK_BAD_VALUE);
}

// A number for each row of x.
void read_each(seen_call& call, char const* name, unsigned types) {
  call.read(name, {0, 3, types, true});
  auto const i = call.index(name), x = call.index("x");
  auto const &t = call.tensors[i], &logits = call.tensors[x];
  bool const known = t.shaped && logits.shaped;
  call.by_query.add(known && call.spec->tensors[i].ndim != call.spec->tensors[x].ndim - 1,
                    TK_BAD_RANK);
  for (int axis = 0; axis < 3; ++axis) same_size(call.by_query, t, axis, logits, axis);
}
void look_at_logits(seen_call& call) {
  auto const& x = seen(call, "x");
  call.empty = x.shaped && (x.size[0] == 0 || x.size[1] == 0 || x.size[2] == 0);
  if (call.empty || !x.shaped) return;
  constexpr wide longest = (wide(1) << 31) - 65537;
  wide const rows = wide(x.size[0]) * x.size[1] * x.size[2];
  call.by_query.add(rows > longest || x.size[3] == 0 || x.size[3] > 1 << 24, TK_UNSUPPORTED);
}

void make_forward(generator& g) {
  auto const shape = logit_sizes(g), each = without_last(shape);
  auto const of = g.half_or_fp32();
  g.tensor("x", of, shape);
  g.tensor("labels", g.flip() ? int32 : int64, each);
  g.tensor("loss", fp32, each);
  if (g.flip()) g.tensor("lse", fp32, each);
  else g.leave_out("lse");
  if (g.number(0, 2) == 0) g.leave_out("dx");
  else if (g.flip()) g.tensor("dx", of, shape);
  else g.put_on("dx", "x");
  auto p = make_options<tk_cross_entropy_problem>(g);
  p.dloss_scale = static_cast<float>(g.number(-8, 8)) / 4;
  g.fields(p);
}

void look_forward(seen_call& call) {
  look_at_terms<tk_cross_entropy_problem>(call);
  auto const scale = call.problem<tk_cross_entropy_problem>().dloss_scale;
  call.by_query.add(!std::isfinite(scale), TK_BAD_VALUE);
  call.read("x", {1, 4, takes_any});
  read_each(call, "labels", takes_int32 | takes_int64);
  read_each(call, "loss", takes_fp32);
  if (call.given("lse")) read_each(call, "lse", takes_fp32);
  if (call.given("dx")) read_rows(call, "dx", "x");
  look_at_logits(call);
}

void make_backward(generator& g) {
  auto const shape = logit_sizes(g), each = without_last(shape);
  auto const of = g.half_or_fp32();
  g.tensor("x", of, shape);
  g.tensor("labels", g.flip() ? int32 : int64, each);
  g.tensor("lse", fp32, each);
  g.tensor("dloss", fp32, each);
  if (g.flip()) g.tensor("dx", of, shape);
  else g.put_on("dx", "x");
  g.fields(make_options<tk_cross_entropy_backward_problem>(g));
}

void look_backward(seen_call& call) {
  look_at_terms<tk_cross_entropy_backward_problem>(call);
  call.read("x", {1, 4, takes_any});
  read_each(call, "labels", takes_int32 | takes_int64);
  read_each(call, "lse", takes_fp32);
  read_each(call, "dloss", takes_fp32);
  read_rows(call, "dx", "x");
  look_at_logits(call);
}

template <class Problem> std::vector<option_field> options_of() {
  using o = option_field;
  return {{offsetof(Problem, ignore_index), o::wide_number},
          {offsetof(Problem, has_ignore_index), o::choice, 2},
          {offsetof(Problem, label_smoothing), o::factor},
          {offsetof(Problem, z_loss), o::factor},
          {offsetof(Problem, softcap), o::factor},
          {offsetof(Problem, repeat), o::choice, 2},
          {offsetof(Problem, reserved), o::reserved}};
}

}  // namespace

fuzzed_op const& fuzzed_cross_entropy() {
  using problem = tk_cross_entropy_problem;
  static fuzzed_op const op = [] {
    auto options = options_of<problem>();
    options.push_back({offsetof(problem, dloss_scale), option_field::factor});
    options.push_back({offsetof(problem, reserved2), option_field::reserved});
    return fuzzed_op{TK_OP_CROSS_ENTROPY,
                     "tk_cross_entropy",
                     call_untyped<problem, tk_cross_entropy>,
                     sizeof(problem),
                     offsetof(problem, repeat),
                     {{"x", offsetof(problem, x), false, {"dx"}},
                      {"labels", offsetof(problem, labels)},
                      {"loss", offsetof(problem, loss), true},
                      {"lse", offsetof(problem, lse), true},
                      {"dx", offsetof(problem, dx), true}},
                     options,
                     make_forward,
                     look_forward};
  }();
  return op;
}

fuzzed_op const& fuzzed_cross_entropy_backward() {
  using problem = tk_cross_entropy_backward_problem;
  static fuzzed_op const op{TK_OP_CROSS_ENTROPY_BACKWARD,
                            "tk_cross_entropy_backward",
                            call_untyped<problem, tk_cross_entropy_backward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"x", offsetof(problem, x), false, {"dx"}},
                             {"labels", offsetof(problem, labels)},
                             {"lse", offsetof(problem, lse)},
                             {"dloss", offsetof(problem, dloss)},
                             {"dx", offsetof(problem, dx), true}},
                            options_of<problem>(),
                            make_backward,
                            look_backward};
  return op;
}

}  // namespace fuzz
