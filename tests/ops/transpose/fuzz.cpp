// SPDX-License-Identifier: MIT
// transpose for the fuzzer: its fields, correct problems, and what is wrong with others.
#include "ops/transpose/transpose.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

void make(generator& g) {
  tk_transpose_problem p{};
  type const types[] = {bf16, fp16, fp32, int32, fp8_e4m3, fp8_e5m2};
  auto const of = types[g.number(0, 5)];
  auto shape = row_sizes(g);
  if (shape.size() == 1) shape.insert(shape.begin(), g.size());
  g.tensor("x", of, shape);
  std::swap(shape[shape.size() - 2], shape.back());
  g.tensor("y", of, shape);
  put(p.repeat, g.flip());
  g.fields(p);
}

void look(seen_call& call) {
  auto& f = call.by_query;
  constexpr expected is{2, 4, takes_any | takes_int32 | takes_fp8};
  auto const [x, y] = call.all<2>();
  call.read("x", is);
  call.read("y", is);
  same_type(f, y, x);
  same_rank(call, "y", "x");
  for (int axis = 0; axis < 2; ++axis) same_size(f, y, axis, x, axis);
  same_size(f, y, 2, x, 3);
  same_size(f, y, 3, x, 2);
  call.empty = x.shaped && x.empty();
  if (call.empty || !x.shaped) return;
  auto const tiles = [](wide n) { return (n + 31) / 32; };
  f.add(tiles(x.size[2]) * tiles(x.size[3]) * x.size[0] * x.size[1] > (wide(1) << 31) - 65537,
        TK_UNSUPPORTED);
}

}  // namespace

fuzzed_op const& fuzzed_transpose() {
  using o = option_field;
  using problem = tk_transpose_problem;
  static fuzzed_op const op{
      TK_OP_TRANSPOSE,
      "tk_transpose",
      call_untyped<problem, tk_transpose>,
      sizeof(problem),
      offsetof(problem, repeat),
      {{"x", offsetof(problem, x)}, {"y", offsetof(problem, y), true}},
      {{offsetof(problem, repeat), o::choice, 2}, {offsetof(problem, reserved), o::reserved}},
      make,
      look};
  return op;
}

}  // namespace fuzz
