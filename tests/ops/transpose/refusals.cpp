// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/transpose/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<transpose>> problems() {
  using s = transpose;
  return {
      {"h of y", [](s& x) { x.y.shape[0] = 1; }, TK_BAD_SHAPE, {"y has h = 1", "x has h = 2"}},
      {"m of y", [](s& x) { x.y.shape[1] = 21; }, TK_BAD_SHAPE, {"y has m = 21", "x has m = 20"}},
      {"n of y", [](s& x) { x.y.shape[2] = 4; }, TK_BAD_SHAPE, {"y has n = 4", "x has n = 3"}},
      {"not transposed",
       [](s& x) { std::swap(x.y.shape[1], x.y.shape[2]); },
       TK_BAD_SHAPE,
       {"y has m = 3", "x has m = 20"}},
      {"rank 1", [](s& x) { x.x.dl.ndim = 1; }, TK_BAD_RANK, {"x has 1 dimensions", "2 to 4"}},
      {"y of rank 4", [](s& x) { x.y.dl.ndim = 4; }, TK_BAD_RANK, {"y has 4", "x has 3"}},
      {"y, x", [](s& x) { x.y.dl.dtype = bf16; }, TK_BAD_TYPE, {"y is bf16", "x is fp32"}},
      {"y of the same size",
       [](s& x) { x.y.dl.dtype = int32; },
       TK_BAD_TYPE,
       {"y is int32", "x is fp32"}},
      {"int64", [](s& x) { x.x.dl.dtype = int64; }, TK_BAD_TYPE, {"x is int64", "fp8 e4m3"}},
      {"int8", [](s& x) { x.x.dl.dtype = {kDLInt, 8, 1}; }, TK_BAD_TYPE, {"code 0", "bits 8"}},
      {"rows of y overlap",
       [](s& x) { x.y.strides[1] = 2; },
       TK_BAD_OVERLAP,
       {"y", "[2, 20, 3]", "[60, 2, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its output") { check_scene<transpose>(); }

TEST_CASE("refusals") {
  check_refusals<transpose>(2, {{16, 64, 128}, {16, 128, 64}}, {}, [] { try_all(problems()); });
}
