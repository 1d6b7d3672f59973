// SPDX-License-Identifier: MIT
// conv1d and its backward for the fuzzer: their fields, correct problems, and what is wrong with
// others.
#include "ops/conv1d/conv1d.h"
#include "ops/conv1d/conv1d_backward.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

// Sizes of tokens and states, and types.
struct made {
  sizes tokens, states;
  i64 c, w;
  type of, of_weights;
};
made make_operands(generator& g) {
  made x{};
  bool const batched = g.flip(), packed = g.number(0, 2) == 0;
  i64 const b = batched && !packed ? g.number(0, 3) : 1, n = g.size();
  x.c = g.size(), x.w = g.number(2, 4);
  i64 const sequences = packed ? g.number(0, 4) : b;
  x.tokens = batched ? sizes{b, n, x.c} : sizes{n, x.c};
  x.states = sizes{sequences, x.w - 1, x.c};
  if (sequences == 1 && g.flip()) x.states = {x.w - 1, x.c};
  x.of = g.half_or_fp32();
  x.of_weights = g.flip() ? x.of : fp32;
  g.tensor("x", x.of, x.tokens);
  g.tensor("weight", x.of_weights, {x.c, x.w});
  if (g.flip()) g.tensor("bias", x.of_weights, {x.c});
  else g.leave_out("bias");
  if (g.flip()) g.tensor("initial_state", x.of, x.states);
  else g.leave_out("initial_state");
  if (packed) g.tensor("starts", int32, {sequences + 1});
  else g.leave_out("starts");
  return x;
}
template <class Problem> void make_fields(generator& g) {
  Problem p{};
  put(p.activation, g.flip() ? TK_ACTIVATION_SILU : TK_ACTIVATION_NONE);
  put(p.repeat, g.flip());
  g.fields(p);
}

void make_forward(generator& g) {
  auto const x = make_operands(g);
  g.tensor("y", x.of, x.tokens);
  if (g.number(0, 2) == 0) g.leave_out("final_state");
  else if (g.given("initial_state") && g.flip()) g.put_on("final_state", "initial_state");
  else g.tensor("final_state", x.of, x.states);
  make_fields<tk_conv1d_problem>(g);
}

void make_backward(generator& g) {
  auto const x = make_operands(g);
  auto const of_sums = g.flip() ? x.of : fp32;
  auto const perhaps = [&](char const* name, type of, sizes const& shape) {
    if (g.flip()) g.tensor(name, of, shape);
    else g.leave_out(name);
  };
  g.tensor("dy", x.of, x.tokens);
  perhaps("dfinal_state", x.of, x.states);
  g.tensor("dx", x.of, x.tokens);
  perhaps("dweight", of_sums, {x.c, x.w});
  perhaps("dbias", of_sums, {x.c});
  perhaps("dinitial_state", x.of, x.states);
  make_fields<tk_conv1d_backward_problem>(g);
}

bool is_fp32(seen_tensor const& x) { return x.code == kDLFloat && x.bits == 32; }

void read_tokens(seen_call& call, char const* name) {
  call.read(name, {2, 3, takes_any});
  same_type(call.by_query, seen(call, name), seen(call, "x"));
  for (int axis = 0; axis < 3; ++axis)
    same_size(call.by_query, seen(call, name), axis, seen(call, "x"), axis);
}
// [c, w], contiguous, or [c], where it is given.
void read_weights(seen_call& call, char const* name, bool has_taps) {
  if (!call.given(name) && std::string_view(name) != "weight") return;
  auto& f = call.by_query;
  int const rank = has_taps ? 2 : 1;
  call.read(name, {rank, rank, takes_any});
  auto const &t = seen(call, name), &x = seen(call, "x");
  if (t.typed && !is_fp32(t)) same_type(f, t, x);
  same_size(f, t, 0, x, 2);
  f.add(has_taps && t.strided && t.size[0] > 1 && t.size[1] > 0 && t.stride[0] != t.size[1],
        TK_BAD_STRIDE);
}
// What states must have, where it is known.
wide sequences_of(seen_call const& call) {
  return call.given("starts") ? wide(seen(call, "starts").size[0]) - 1
                              : wide(seen(call, "x").size[0]);
}
void read_state(seen_call& call, char const* name) {
  if (!call.given(name)) return;
  auto& f = call.by_query;
  call.read(name, {2, 3, takes_any});
  auto const &t = seen(call, name), &x = seen(call, "x"), &weight = seen(call, "weight");
  same_type(f, t, x);
  same_size(f, t, 2, x, 2);
  bool const known = x.shaped && (!call.given("starts") || seen(call, "starts").shaped);
  f.add(t.shaped && known && t.size[0] != sequences_of(call), TK_BAD_SHAPE);
  f.add(t.shaped && weight.shaped && t.size[1] != weight.size[1] - 1, TK_BAD_SHAPE);
}

template <class Problem> void read_operands(seen_call& call) {
  auto& f = call.by_query;
  auto const kind = number_in(call.problem<Problem>().activation);
  f.add(kind != TK_ACTIVATION_NONE && kind != TK_ACTIVATION_SILU, TK_UNSUPPORTED);
  call.read("x", {2, 3, takes_any});
  read_weights(call, "weight", true);
  read_weights(call, "bias", false);
  auto const &x = seen(call, "x"), &weight = seen(call, "weight");
  if (call.given("bias")) same_type(f, seen(call, "bias"), weight);
  f.add(weight.shaped && (weight.size[1] < 2 || weight.size[1] > 4), TK_UNSUPPORTED);
  if (call.given("starts")) {
    call.read("starts", {1, 1, takes_int32});
    auto const& starts = seen(call, "starts");
    f.add(x.shaped && x.size[0] != 1, TK_BAD_SHAPE);
    f.add(starts.shaped && starts.size[0] == 0, TK_BAD_SHAPE);
  }
  read_state(call, "initial_state");
}

// Whether states that are wanted, and sums, are there: work without tokens, and without sequences.
void look_at_sizes(seen_call& call, bool states, bool sums) {
  auto const &x = seen(call, "x"), &weight = seen(call, "weight");
  if (!x.shaped || !weight.shaped || (call.given("starts") && !seen(call, "starts").shaped)) return;
  wide const n = x.size[1], c = x.size[2], sequences = sequences_of(call);
  bool const rows = sequences > 0 && (n > 0 || states);
  call.empty = c == 0 || (!rows && !sums);
  if (call.empty) return;
  constexpr wide most = (wide(1) << 31) - 65537;
  bool const packed = call.given("starts");
  wide const runs = packed ? (sequences == 0 ? 0 : n / 128 + sequences)
                           : sequences * (n <= 128 ? 1 : (n + 127) / 128);
  call.by_query.add(x.size[0] > most || n > most || c > most || x.size[0] * n > most ||
                        c * weight.size[1] > most || (packed && n + sequences > most) ||
                        runs * ((c + 255) / 256) > most,
                    TK_UNSUPPORTED);
}

void look_forward(seen_call& call) {
  read_operands<tk_conv1d_problem>(call);
  read_tokens(call, "y");
  read_state(call, "final_state");
  look_at_sizes(call, call.given("final_state"), false);
}

void look_backward(seen_call& call) {
  read_operands<tk_conv1d_backward_problem>(call);
  read_tokens(call, "dy");
  read_tokens(call, "dx");
  read_state(call, "dfinal_state");
  read_weights(call, "dweight", true);
  read_weights(call, "dbias", false);
  read_state(call, "dinitial_state");
  auto& f = call.by_query;
  if (call.given("dweight")) same_size(f, seen(call, "dweight"), 1, seen(call, "weight"), 1);
  if (call.given("dweight") && call.given("dbias"))
    same_type(f, seen(call, "dbias"), seen(call, "dweight"));
  look_at_sizes(call, call.given("dinitial_state"), call.given("dweight") || call.given("dbias"));
}

template <class Problem> std::vector<option_field> options_of() {
  using o = option_field;
  return {{offsetof(Problem, activation), o::choice, 6},
          {offsetof(Problem, reserved_activation), o::reserved},
          {offsetof(Problem, repeat), o::choice, 2},
          {offsetof(Problem, reserved), o::reserved}};
}

}  // namespace

fuzzed_op const& fuzzed_conv1d() {
  using problem = tk_conv1d_problem;
  static fuzzed_op const op{
      TK_OP_CONV1D,
      "tk_conv1d",
      call_untyped<problem, tk_conv1d>,
      sizeof(problem),
      offsetof(problem, repeat),
      {{"x", offsetof(problem, x)},
       {"weight", offsetof(problem, weight)},
       {"bias", offsetof(problem, bias)},
       {"y", offsetof(problem, y), true},
       {"initial_state", offsetof(problem, initial_state), false, {"final_state"}},
       {"final_state", offsetof(problem, final_state), true},
       {"starts", offsetof(problem, starts)}},
      options_of<problem>(),
      make_forward,
      look_forward};
  return op;
}

fuzzed_op const& fuzzed_conv1d_backward() {
  using problem = tk_conv1d_backward_problem;
  static fuzzed_op const op{TK_OP_CONV1D_BACKWARD,
                            "tk_conv1d_backward",
                            call_untyped<problem, tk_conv1d_backward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"x", offsetof(problem, x)},
                             {"weight", offsetof(problem, weight)},
                             {"bias", offsetof(problem, bias)},
                             {"dy", offsetof(problem, dy)},
                             {"initial_state", offsetof(problem, initial_state)},
                             {"dfinal_state", offsetof(problem, dfinal_state)},
                             {"starts", offsetof(problem, starts)},
                             {"dx", offsetof(problem, dx), true},
                             {"dweight", offsetof(problem, dweight), true},
                             {"dbias", offsetof(problem, dbias), true},
                             {"dinitial_state", offsetof(problem, dinitial_state), true}},
                            options_of<problem>(),
                            make_backward,
                            look_backward};
  return op;
}

}  // namespace fuzz
