// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/gemm/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<gemm>> gemm_shapes() {
  using s = gemm;
  return {
      {"k", [](s& x) { x.b.shape[1] = 15; }, TK_BAD_SHAPE, {"b has rows = 15", "a", "16"}},
      {"m", [](s& x) { x.d.shape[1] = 9; }, TK_BAD_SHAPE, {"d has rows = 9", "a", "8"}},
      {"n", [](s& x) { x.d.shape[2] = 23; }, TK_BAD_SHAPE, {"d has columns = 23", "b", "24"}},
      {"a transposed",
       [](s& x) { x.problem.transpose_a = 1; },
       TK_BAD_SHAPE,
       {"b has rows = 16", "a has rows = 8"}},
      {"b transposed",
       [](s& x) { x.problem.transpose_b = 1; },
       TK_BAD_SHAPE,
       {"b has columns = 24", "a has columns = 16"}},
      {"batch of a", [](s& x) { x.a.shape[0] = 3; }, TK_BAD_SHAPE, {"a has batch = 3", "d", "2"}},
      {"batch of b", [](s& x) { x.b.shape[0] = 0; }, TK_BAD_SHAPE, {"b has batch = 0", "d", "2"}},
      {"batch of d", [](s& x) { x.d.shape[0] = 1; }, TK_BAD_SHAPE, {"a has batch = 2", "d", "1"}},
      {"batch of c", [](s& x) { x.c.shape[0] = 3; }, TK_BAD_SHAPE, {"c has batch = 3", "d", "2"}},
      {"rows of c", [](s& x) { x.c.shape[1] = 7; }, TK_BAD_SHAPE, {"c has rows = 7", "d", "8"}},
      {"columns of c", [](s& x) { x.c.shape[2] = 1; }, TK_BAD_SHAPE, {"c has columns = 1", "24"}},
      {"bias, row", [](s& x) { x.bias.shape[0] = 8; }, TK_BAD_SHAPE, {"bias", "8", "d", "24"}},
      {"bias, column",
       [](s& x) { x.problem.bias_kind = TK_BIAS_COLUMN; },
       TK_BAD_SHAPE,
       {"bias", "24", "d has rows = 8"}},
      {"rank 1", [](s& x) { x.b.dl.ndim = 1; }, TK_BAD_RANK, {"b has 1 dimensions", "2 or 3"}},
      {"bias of rank 2", [](s& x) { x.bias.dl.ndim = 2; }, TK_BAD_RANK, {"bias has 2", "1"}},
  };
}

std::vector<spoiled<gemm>> gemm_types_and_values() {
  using s = gemm;
  return {
      {"fp32 a", [](s& x) { x.a.dl.dtype = fp32; }, TK_BAD_TYPE, {"a", "bf16 or fp16"}},
      {"a, b", [](s& x) { x.b.dl.dtype = fp16; }, TK_BAD_TYPE, {"b is fp16", "a is bf16"}},
      {"c, d", [](s& x) { x.c.dl.dtype = bf16; }, TK_BAD_TYPE, {"c is bf16", "d is fp32"}},
      {"bias, d", [](s& x) { x.bias.dl.dtype = fp16; }, TK_BAD_TYPE, {"bias is fp16", "d is fp32"}},
      {"transpose_a", [](s& x) { x.problem.transpose_a = 2; }, TK_BAD_VALUE, {"transpose_a is 2"}},
      {"transpose_b",
       [](s& x) { x.problem.transpose_b = -1; },
       TK_BAD_VALUE,
       {"transpose_b is -1", "0 or 1"}},
      {"activation",
       [](s& x) { x.problem.activation = as<tk_activation_kind>(5); },
       TK_BAD_VALUE,
       {"activation is 5", "TK_ACTIVATION_NONE, TK_ACTIVATION_RELU"}},
      {"bias_kind",
       [](s& x) { x.problem.bias_kind = as<tk_bias>(-7); },
       TK_BAD_VALUE,
       {"bias_kind is -7", "TK_BIAS_NONE, TK_BIAS_ROW or TK_BIAS_COLUMN"}},
      {"bias of no kind",
       [](s& x) { x.problem.bias_kind = TK_BIAS_NONE; },
       TK_BAD_VALUE,
       {"bias is given but bias_kind is TK_BIAS_NONE"}},
      {"no c", [](s& x) { x.c.given = nullptr; }, TK_NULL_POINTER, {"c is NULL but beta is 1"}},
      {"no bias",
       [](s& x) { x.bias.given = nullptr; },
       TK_NULL_POINTER,
       {"bias is NULL but bias_kind is TK_BIAS_ROW"}},
  };
}

std::vector<spoiled<gemm>> gemm_overlaps() {
  using s = gemm;
  return {
      {"d is c, other strides",
       [](s& x) {
         x.d.dl.data = x.c.dl.data;
         x.c.strides[0] = 0;
       },
       TK_BAD_OVERLAP,
       {"d at", "c at"},
       launch_only},
      {"rows of d in one place",
       [](s& x) { x.d.strides[1] = 0; },
       TK_BAD_OVERLAP,
       {"d", "[2, 8, 24]", "[192, 0, 1]"}},
      {"rows of d overlap", [](s& x) { x.d.strides[1] = 23; }, TK_BAD_OVERLAP, {"d", "23"}},
      {"rows of d overlap downward", [](s& x) { x.d.strides[1] = -23; }, TK_BAD_OVERLAP, {"-23"}},
      {"batches of d in one place",
       [](s& x) { x.d.strides[0] = 0; },
       TK_BAD_OVERLAP,
       {"[0, 24, 1]"}},
      {"batches of d meet", [](s& x) { x.d.strides[0] = 7 * 24 + 23; }, TK_BAD_OVERLAP, {"191"}},
  };
}

// 2^20 batches, 8 rows, 1 column each, at addresses that nobody follows. All steps are multiples of
// 3, and one tensor starts 3 elements later; no quick way tells whether they meet.
void make_intricate(gemm& s, std::int64_t d_row_stride) {
  s.problem.beta = 0;
  s.c.given = s.bias.given = nullptr;
  s.problem.bias_kind = TK_BIAS_NONE;
  s.d.dl.dtype = bf16;
  s.d.dl.data = s.a.dl.data;
  s.d.move(6);
  s.a.shape = s.d.shape = {1 << 20, 8, 1};
  s.b.shape = {1, 1, 1};
  s.a.strides = {3 * 1000003, 3 * 999983, 1};
  s.d.strides = {3 * 999979, d_row_stride, 1};
}

std::vector<spoiled<gemm>> gemm_intricate() {
  using s = gemm;
  return {
      {"two tensors",
       [](s& x) { make_intricate(x, 3 * 999961); },
       TK_BAD_OVERLAP,
       {"d at", "may overlap a at", "intricate"},
       launch_only},
      {"one tensor",
       [](s& x) {
         make_intricate(x, 3 * 999961);
         x.a.shape[1] = x.d.shape[1] = 1 << 19;
         x.a.shape[0] = x.d.shape[0] = 1 << 19;
       },
       TK_BAD_OVERLAP,
       {"d of sizes [524288, 524288, 1]", "may have", "intricate"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its output") { check_scene<gemm>(); }

TEST_CASE("refusals") {
  check_refusals<gemm>(
      3, {{1, 256, 1 << 20}, {1, 1 << 20, 256}, {1, 256, 256}, {1, 256, 256}, {256}}, {}, [] {
        try_all(gemm_shapes());
        try_all(gemm_types_and_values());
        try_all(gemm_overlaps());
        try_all(gemm_intricate());
      });
}
