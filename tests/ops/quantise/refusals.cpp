// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/quantise/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<quantise>> row_problems() {
  using s = quantise;
  return {
      {"h of y", [](s& x) { x.y.shape[0] = 1; }, TK_BAD_SHAPE, {"y has h = 1", "x", "2"}},
      {"rows of y", [](s& x) { x.y.shape[1] = 4; }, TK_BAD_SHAPE, {"y has rows = 4", "x", "3"}},
      {"width of y", [](s& x) { x.y.shape[2] = 21; }, TK_BAD_SHAPE, {"y has width = 21", "20"}},
      {"h of scale", [](s& x) { x.scale.shape[0] = 1; }, TK_BAD_SHAPE, {"scale has h = 1", "2"}},
      {"rows of scale", [](s& x) { x.scale.shape[1] = 2; }, TK_BAD_SHAPE, {"scale has rows", "3"}},
      {"rank 5", [](s& x) { x.x.dl.ndim = 5; }, TK_BAD_RANK, {"x has 5 dimensions", "1 to 4"}},
      {"y of rank 4", [](s& x) { x.y.dl.ndim = 4; }, TK_BAD_RANK, {"y has 4", "x has 3"}},
      {"scale of rank 3",
       [](s& x) { x.scale.dl.ndim = 3; },
       TK_BAD_RANK,
       {"scale has 3", "x has 3", "must have 2"}},
      {"x fp8", [](s& x) { x.x.dl.dtype = fp8_e4m3; }, TK_BAD_TYPE, {"x is fp8 e4m3"}},
      {"y bf16",
       [](s& x) { x.y.dl.dtype = bf16; },
       TK_BAD_TYPE,
       {"y is bf16", "fp8 e4m3 or fp8 e5m2"}},
      {"y e4m3fnuz", [](s& x) { x.y.dl.dtype.code = 11; }, TK_BAD_TYPE, {"y", "code 11"}},
      {"scale bf16", [](s& x) { x.scale.dl.dtype = bf16; }, TK_BAD_TYPE, {"scale is bf16", "fp32"}},
      {"kind 5",
       [](s& x) { x.problem.kind = as<tk_scale_kind>(5); },
       TK_BAD_VALUE,
       {"kind is 5", "TK_SCALE_ROW", "TK_SCALE_GIVEN"}},
      {"kind -1", [](s& x) { x.problem.kind = as<tk_scale_kind>(-1); }, TK_BAD_VALUE, {"-1"}},
      {"power_of_two 2",
       [](s& x) { x.problem.power_of_two = 2; },
       TK_BAD_VALUE,
       {"power_of_two is 2", "0 or 1"}},
      {"rows of y overlap",
       [](s& x) { x.y.strides[1] = 19; },
       TK_BAD_OVERLAP,
       {"y", "[2, 3, 20]", "[60, 19, 1]"}},
      {"one scale for all",
       [](s& x) { x.scale.strides[0] = x.scale.strides[1] = 0; },
       TK_BAD_OVERLAP,
       {"scale", "[0, 0]"}},
  };
}

std::vector<spoiled<quantise_1x128>> block_problems() {
  using s = quantise_1x128;
  return {
      {"blocks", [](s& x) { x.scale.shape[2] = 2; }, TK_BAD_SHAPE, {"blocks = 2", "20", "have 1"}},
      {"no blocks", [](s& x) { x.scale.shape[2] = 0; }, TK_BAD_SHAPE, {"blocks = 0", "have 1"}},
      {"rows", [](s& x) { x.scale.shape[1] = 1; }, TK_BAD_SHAPE, {"scale has rows = 1", "have 3"}},
      {"rank", [](s& x) { x.scale.dl.ndim = 2; }, TK_BAD_RANK, {"scale has 2", "x has 3"}},
  };
}
std::vector<spoiled<quantise_128x128>> square_problems() {
  using s = quantise_128x128;
  return {
      {"rows", [](s& x) { x.scale.shape[1] = 3; }, TK_BAD_SHAPE, {"rows = 3", "must have 1"}},
      {"h", [](s& x) { x.scale.shape[0] = 1; }, TK_BAD_SHAPE, {"scale has h = 1", "must have 2"}},
      {"one row",
       [](s& x) {
         x.x.dl.ndim = x.y.dl.ndim = x.scale.dl.ndim = 1;
         x.x.strides[0] = x.y.strides[0] = 1;
       },
       TK_BAD_RANK,
       {"x has 1 dimension", "TK_SCALE_128X128", "2"}},
  };
}
std::vector<spoiled<quantise_tensor>> tensor_problems() {
  using s = quantise_tensor;
  return {
      {"two", [](s& x) { x.scale.shape[0] = 2; }, TK_BAD_SHAPE, {"numbers = 2", "must have 1"}},
      {"none", [](s& x) { x.scale.shape[0] = 0; }, TK_BAD_SHAPE, {"numbers = 0", "must have 1"}},
      {"rank", [](s& x) { x.scale.dl.ndim = 2; }, TK_BAD_RANK, {"scale has 2", "0 or 1"}},
  };
}
std::vector<spoiled<quantise_given>> given_problems() {
  using s = quantise_given;
  return {
      {"power_of_two",
       [](s& x) { x.problem.power_of_two = 1; },
       TK_BAD_VALUE,
       {"power_of_two is 1", "TK_SCALE_GIVEN", "0"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  check_scene<quantise>();
  check_scene<quantise_1x128>();
  check_scene<quantise_128x128>();
  check_scene<quantise_tensor>();
  check_scene<quantise_given>();
}

TEST_CASE("refusals") {
  check_refusals<quantise>(2, {{16, 64, 128}, {16, 64, 128}, {16, 64}}, {}, [] {
    try_all(row_problems());
    try_all(block_problems());
    try_all(square_problems());
    try_all(tensor_problems());
    try_all(given_problems());
    try_overlaps<quantise_1x128>();
    try_overlaps<quantise_128x128>();
    try_overlaps<quantise_tensor>();
    try_overlaps<quantise_given>();
  });
}
