// SPDX-License-Identifier: MIT
// What can be wrong with a problem of the backward: shapes, types, values and overlaps, each with
// the status and the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/softmax/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<softmax_backward>> backward_problems() {
  using s = softmax_backward;
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"h of dy", [](s& x) { x.dy.shape[0] = 1; }, TK_BAD_SHAPE, {"dy has h = 1", "y", "2"}},
      {"rows of dx", [](s& x) { x.dx.shape[1] = 4; }, TK_BAD_SHAPE, {"dx has rows = 4", "y", "3"}},
      {"width of dx", [](s& x) { x.dx.shape[2] = 21; }, TK_BAD_SHAPE, {"dx has width = 21", "20"}},
      {"h of dbias", [](s& x) { x.dbias.shape[0] = 1; }, TK_BAD_SHAPE, {"dbias has h = 1", "2"}},
      {"rank 5", [](s& x) { x.y.dl.ndim = 5; }, TK_BAD_RANK, {"y has 5 dimensions", "1 to 4"}},
      {"dy of rank 4",
       [](s& x) { x.dy.dl.ndim = 4; },
       TK_BAD_RANK,
       {"dy has 4 dimensions", "y has 3"}},
      {"dbias of rank 2",
       [](s& x) { x.dbias.dl.ndim = 2, x.dbias.strides[1] = 1, x.dbias.strides[0] = 3; },
       TK_BAD_RANK,
       {"dbias has 2", "y has 3"}},
      {"dy, y", [](s& x) { x.dy.dl.dtype = bf16; }, TK_BAD_TYPE, {"dy is bf16", "y is fp32"}},
      {"dx, y", [](s& x) { x.dx.dl.dtype = fp16; }, TK_BAD_TYPE, {"dx is fp16", "y is fp32"}},
      {"dbias, y",
       [](s& x) {
         for (auto* t : {&x.y, &x.dy, &x.dx}) t->dl.dtype = bf16;
       },
       TK_BAD_TYPE,
       {"dbias is fp32", "y is bf16"}},
      {"mask",
       [](s& x) { x.problem.mask = as<tk_mask>(-1); },
       TK_BAD_VALUE,
       {"mask is -1", "TK_MASK_NONE or TK_MASK_CAUSAL"}},
      {"scale nan", [](s& x) { x.problem.scale = inf - inf; }, TK_BAD_VALUE, {"scale is", "nan"}},
      {"scale inf", [](s& x) { x.problem.scale = inf; }, TK_BAD_VALUE, {"scale is inf"}},
      {"dx on dy, other strides",
       [](s& x) {
         x.dx.dl.data = x.dy.dl.data;
         x.dx.strides[1] = 24, x.dx.strides[0] = 72;
       },
       TK_BAD_OVERLAP,
       {"dx at", "dy at"},
       launch_only},
      {"dx and dbias on y",
       [](s& x) { x.dbias.dl.data = x.dx.dl.data = x.y.dl.data; },
       TK_BAD_OVERLAP,
       {"dx at", "dbias at"},
       launch_only},
      {"rows of dx overlap",
       [](s& x) { x.dx.strides[1] = 19; },
       TK_BAD_OVERLAP,
       {"dx", "[2, 3, 20]", "[60, 19, 1]"}},
      {"matrices of dbias in one place",
       [](s& x) { x.dbias.strides[0] = 0; },
       TK_BAD_OVERLAP,
       {"dbias", "[0, 20, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its output") {
  check_scene<softmax_backward>();
}

TEST_CASE("refusals") {
  check_refusals<softmax_backward>(2, {{16, 64, 128}, {16, 64, 128}, {16, 64, 128}, {16, 64, 128}},
                                   {}, [] { try_all(backward_problems()); });
}
