// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/softmax/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<softmax>> softmax_problems() {
  using s = softmax;
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"h of y", [](s& x) { x.y.shape[0] = 1; }, TK_BAD_SHAPE, {"y has h = 1", "x", "2"}},
      {"rows of y", [](s& x) { x.y.shape[1] = 4; }, TK_BAD_SHAPE, {"y has rows = 4", "x", "3"}},
      {"width of y", [](s& x) { x.y.shape[2] = 21; }, TK_BAD_SHAPE, {"y has width = 21", "20"}},
      {"h of bias",
       [](s& x) { x.bias.shape[0] = 3; },
       TK_BAD_SHAPE,
       {"bias has h = 3", "1", "x", "2"}},
      {"rows of bias", [](s& x) { x.bias.shape[1] = 2; }, TK_BAD_SHAPE, {"bias has rows = 2", "3"}},
      {"no rows of bias", [](s& x) { x.bias.shape[1] = 0; }, TK_BAD_SHAPE, {"bias has rows = 0"}},
      {"width of bias",
       [](s& x) { x.bias.shape[2] = 1; },
       TK_BAD_SHAPE,
       {"bias has width = 1", "x", "20"}},
      {"h of bool_mask",
       [](s& x) { x.bool_mask.shape[0] = 3; },
       TK_BAD_SHAPE,
       {"bool_mask has h = 3", "1", "x", "2"}},
      {"rows of bool_mask",
       [](s& x) { x.bool_mask.shape[1] = 2; },
       TK_BAD_SHAPE,
       {"bool_mask has rows = 2", "3"}},
      {"width of bool_mask",
       [](s& x) { x.bool_mask.shape[2] = 1; },
       TK_BAD_SHAPE,
       {"bool_mask has width = 1", "x", "20"}},
      {"bool_mask of rank 1",
       [](s& x) {
         x.bool_mask.dl.ndim = 1;
         x.bool_mask.shape[0] = 20;
         x.bool_mask.strides[0] = 1;
       },
       TK_BAD_RANK,
       {"bool_mask has 1", "x has 3"}},
      {"fp32 bool_mask",
       [](s& x) { x.bool_mask.dl.dtype = fp32; },
       TK_BAD_TYPE,
       {"bool_mask is fp32", "bool or uint8"}},
      {"int8 bool_mask",
       [](s& x) { x.bool_mask.dl.dtype = {kDLInt, 8, 1}; },
       TK_BAD_TYPE,
       {"bool_mask has elements", "code 0", "bool or uint8"}},
      {"uint8 x",
       [](s& x) { x.x.dl.dtype = uint8; },
       TK_BAD_TYPE,
       {"x is uint8", "bf16 or fp16 or fp32"}},
      {"rank 5", [](s& x) { x.x.dl.ndim = 5; }, TK_BAD_RANK, {"x has 5 dimensions", "1 to 4"}},
      {"y of rank 4",
       [](s& x) { x.y.dl.ndim = 4; },
       TK_BAD_RANK,
       {"y has 4 dimensions", "x has 3"}},
      {"bias of rank 1",
       [](s& x) {
         x.bias.dl.ndim = 1;
         x.bias.shape[0] = 20;
         x.bias.strides[0] = 1;
       },
       TK_BAD_RANK,
       {"bias has 1", "x has 3"}},
      {"y, x", [](s& x) { x.y.dl.dtype = bf16; }, TK_BAD_TYPE, {"y is bf16", "x is fp32"}},
      {"bias, x", [](s& x) { x.bias.dl.dtype = fp16; }, TK_BAD_TYPE, {"bias is fp16", "x is fp32"}},
      {"mask",
       [](s& x) { x.problem.mask = as<tk_mask>(2); },
       TK_BAD_VALUE,
       {"mask is 2", "TK_MASK_NONE or TK_MASK_CAUSAL"}},
      {"scale nan", [](s& x) { x.problem.scale = inf - inf; }, TK_BAD_VALUE, {"scale is", "nan"}},
      {"scale -inf", [](s& x) { x.problem.scale = -inf; }, TK_BAD_VALUE, {"scale is -inf"}},
      {"y on x, other strides",
       [](s& x) {
         x.y.dl.data = x.x.dl.data;
         x.y.strides[1] = 24, x.y.strides[0] = 72;
       },
       TK_BAD_OVERLAP,
       {"y at", "x at"},
       launch_only},
      {"rows of y overlap",
       [](s& x) { x.y.strides[1] = 19; },
       TK_BAD_OVERLAP,
       {"y", "[2, 3, 20]", "[60, 19, 1]"}},
      {"matrices of y in one place",
       [](s& x) { x.y.strides[0] = 0; },
       TK_BAD_OVERLAP,
       {"y", "[0, 20, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its output") { check_scene<softmax>(); }

TEST_CASE("refusals") {
  check_refusals<softmax>(2, {{16, 64, 128}, {1, 64, 128}, {16, 64, 128}, {16, 1, 128}}, {},
                          [] { try_all(softmax_problems()); });
}
