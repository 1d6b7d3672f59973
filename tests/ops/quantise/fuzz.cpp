// SPDX-License-Identifier: MIT
// quantise for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/quantise/quantise.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

i64 in_blocks(i64 n) { return n / 128 + (n % 128 != 0); }

void make(generator& g) {
  auto shape = row_sizes(g);
  tk_quantise_problem p{};
  auto const kind = static_cast<int>(g.number(0, 4));
  put(p.kind, kind);
  if (kind == TK_SCALE_128X128 && shape.size() < 2) shape.insert(shape.begin(), 1);
  g.tensor("x", g.half_or_fp32(), shape);
  g.tensor("y", g.flip() ? fp8_e4m3 : fp8_e5m2, shape);
  auto scale = shape;
  if (kind == TK_SCALE_ROW) scale.pop_back();
  else if (kind == TK_SCALE_1X128 || kind == TK_SCALE_128X128)
    scale.back() = in_blocks(shape.back());
  else scale = g.flip() ? sizes{1} : sizes{};
  if (kind == TK_SCALE_128X128) scale[scale.size() - 2] = in_blocks(shape[shape.size() - 2]);
  g.tensor("scale", fp32, scale);
  p.power_of_two = kind != TK_SCALE_GIVEN && g.flip();
  put(p.repeat, g.flip());
  g.fields(p);
}

void look_at_scale(seen_call& call, int kind) {
  auto& f = call.by_query;
  auto const i = call.index("scale"), of_x = call.index("x");
  bool const by_row = kind == TK_SCALE_ROW, one = kind >= TK_SCALE_TENSOR;
  call.read("scale", {0, by_row ? 3 : one ? 1 : 4, takes_fp32, true});
  auto const &scale = call.tensors[i], &x = call.tensors[of_x];
  if (one) return f.add(scale.shaped && scale.size[0] != 1, TK_BAD_SHAPE);
  int const rank = call.spec->tensors[i].ndim, x_rank = call.spec->tensors[of_x].ndim;
  f.add(kind == TK_SCALE_128X128 && x.shaped && x_rank < 2, TK_BAD_RANK);
  if (!scale.shaped || !x.shaped) return;
  f.add(rank != (by_row ? x_rank - 1 : x_rank), TK_BAD_RANK);
  for (std::size_t axis = 0; axis < (by_row ? 3 : 4); ++axis) {
    bool const blocks = axis == 3 || (axis == 2 && kind == TK_SCALE_128X128);
    f.add(scale.size[axis] != (blocks ? in_blocks(x.size[axis]) : x.size[axis]), TK_BAD_SHAPE);
  }
}

void look(seen_call& call) {
  auto& f = call.by_query;
  auto const p = call.problem<tk_quantise_problem>();
  int kind;  // any number, as C would give it
  std::memcpy(&kind, &p.kind, sizeof kind);
  f.add(kind == TK_SCALE_GIVEN && p.power_of_two != 0, TK_BAD_VALUE);
  call.read("x", {1, 4, takes_any});
  call.read("y", {1, 4, takes_fp8});
  auto const &x = seen(call, "x"), &y = seen(call, "y");
  same_rank(call, "y", "x");
  for (int axis = 0; axis < 4; ++axis) same_size(f, y, axis, x, axis);
  look_at_scale(call, kind);
  look_at_size(call, x);
  if (kind == TK_SCALE_TENSOR) call.empty = false;
  if (kind != TK_SCALE_ROW || !call.empty) return;
  // Rows without columns have scales.
  wide const rows = wide(x.size[0]) * x.size[1] * x.size[2];
  call.empty = rows == 0;
  f.add(rows > (wide(1) << 31) - 65537, TK_UNSUPPORTED);
}

}  // namespace

fuzzed_op const& fuzzed_quantise() {
  using o = option_field;
  using problem = tk_quantise_problem;
  static fuzzed_op const op{TK_OP_QUANTISE,
                            "tk_quantise",
                            call_untyped<problem, tk_quantise>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"x", offsetof(problem, x)},
                             {"y", offsetof(problem, y), true},
                             {"scale", offsetof(problem, scale), true}},
                            {{offsetof(problem, kind), o::choice, 5},
                             {offsetof(problem, power_of_two), o::choice, 2},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved}},
                            make,
                            look};
  return op;
}

}  // namespace fuzz
