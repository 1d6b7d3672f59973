// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/norm/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<norm>> norm_problems() {
  using s = norm;
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"rows of y", [](s& x) { x.y.shape[0] = 5; }, TK_BAD_SHAPE, {"y has rows = 5", "x", "2"}},
      {"width of y", [](s& x) { x.y.shape[1] = 21; }, TK_BAD_SHAPE, {"y has width = 21", "20"}},
      {"rows of r", [](s& x) { x.r.shape[0] = 7; }, TK_BAD_SHAPE, {"r has rows = 7", "x", "2"}},
      {"residual",
       [](s& x) { x.residual.shape[1] = 19; },
       TK_BAD_SHAPE,
       {"residual has width = 19", "x", "20"}},
      {"weight", [](s& x) { x.weight.shape[0] = 6; }, TK_BAD_SHAPE, {"weight has width = 6"}},
      {"bias", [](s& x) { x.bias.shape[0] = 21; }, TK_BAD_SHAPE, {"bias has width = 21", "20"}},
      {"rank 5", [](s& x) { x.x.dl.ndim = 5; }, TK_BAD_RANK, {"x has 5 dimensions", "1 to 4"}},
      {"y of rank 5", [](s& x) { x.y.dl.ndim = 5; }, TK_BAD_RANK, {"y has 5", "1 to 4"}},
      {"residual of rank 0",
       [](s& x) { x.residual.dl.ndim = 0; },
       TK_BAD_RANK,
       {"residual has 0 dimensions", "1 to 4"}},
      {"bias of rank 2", [](s& x) { x.bias.dl.ndim = 2; }, TK_BAD_RANK, {"bias has 2", "1"}},
      {"y, x", [](s& x) { x.y.dl.dtype = bf16; }, TK_BAD_TYPE, {"y is bf16", "x is fp32"}},
      {"residual, x",
       [](s& x) { x.residual.dl.dtype = fp16; },
       TK_BAD_TYPE,
       {"residual is fp16", "x is fp32"}},
      {"residual bf16, r fp32, x bf16",
       [](s& x) {
         for (auto* t : {&x.x, &x.residual, &x.y, &x.weight, &x.bias}) t->dl.dtype = bf16;
       },
       TK_BAD_TYPE,
       {"r is fp32", "residual is bf16"}},
      {"y fp32, x bf16, r fp32",
       [](s& x) { x.x.dl.dtype = bf16; },
       TK_BAD_TYPE,
       {"y is fp32", "x is bf16"}},
      {"r fp16, x bf16",
       [](s& x) {
         for (auto* t : {&x.x, &x.y}) t->dl.dtype = bf16;
         x.r.dl.dtype = fp16;
       },
       TK_BAD_TYPE,
       {"r is fp16", "x is bf16"}},
      {"y on residual of another type",
       [](s& x) {
         for (auto* t : {&x.x, &x.y}) t->dl.dtype = bf16;
         x.y.dl.data = x.residual.dl.data;
       },
       TK_BAD_OVERLAP,
       {"y at", "residual at"},
       launch_only},
      {"weight, x",
       [](s& x) { x.weight.dl.dtype = fp16; },
       TK_BAD_TYPE,
       {"weight is fp16", "x is fp32"}},
      {"bias, weight",
       [](s& x) {
         for (auto* t : {&x.x, &x.residual, &x.y, &x.r, &x.weight}) t->dl.dtype = bf16;
       },
       TK_BAD_TYPE,
       {"bias is fp32", "weight is bf16"}},
      {"kind",
       [](s& x) { x.problem.kind = as<tk_norm_kind>(2); },
       TK_BAD_VALUE,
       {"kind is 2", "TK_NORM_LAYER or TK_NORM_RMS"}},
      {"eps nan", [](s& x) { x.problem.eps = inf - inf; }, TK_BAD_VALUE, {"eps is", "nan"}},
      {"eps inf", [](s& x) { x.problem.eps = inf; }, TK_BAD_VALUE, {"eps is inf"}},
      {"eps -1", [](s& x) { x.problem.eps = -1; }, TK_BAD_VALUE, {"eps is -1"}},
      {"dropout 1", [](s& x) { x.problem.dropout = 1; }, TK_BAD_VALUE, {"dropout is 1", "255/256"}},
      {"dropout", [](s& x) { x.problem.dropout = -0.5f; }, TK_BAD_VALUE, {"dropout is -0.5"}},
      {"dropout nan", [](s& x) { x.problem.dropout = inf - inf; }, TK_BAD_VALUE, {"dropout is"}},
      {"reserved2", [](s& x) { x.problem.reserved2 = 3; }, TK_BAD_STRUCT, {"reserved2 is 3"}},
      {"random_state of three",
       [](s& x) { x.random_state.shape[0] = 3; },
       TK_BAD_SHAPE,
       {"random_state has 2 = 3"}},
      {"random_state fp32",
       [](s& x) { x.random_state.dl.dtype = fp32; },
       TK_BAD_TYPE,
       {"random_state is fp32"}},
      {"r on x, other strides",
       [](s& x) {
         x.r.dl.data = x.x.dl.data;
         x.r.strides[0] = 24;
       },
       TK_BAD_OVERLAP,
       {"r at", "x at"},
       launch_only},
      {"rows of y overlap",
       [](s& x) { x.y.strides[0] = 19; },
       TK_BAD_OVERLAP,
       {"y", "[2, 20]", "[19, 1]"}},
      {"rows of r in one place", [](s& x) { x.r.strides[0] = 0; }, TK_BAD_OVERLAP, {"r", "[0, 1]"}},
  };
}

// The same faults, but of rows of several matrices, [2, 3, 4, 20].
template <class Scene> auto in_matrices(std::vector<spoiled<Scene>> all) {
  for (auto& fault : all)
    fault.spoil = [spoil = fault.spoil](Scene& x) {
      for (auto* t : {&x.x, &x.residual, &x.y, &x.r}) {
        t->dl.ndim = 4;
        t->shape = {2, 3, 4, 20};
        t->strides = {240, 80, 20, 1};
      }
      x.y_scale.dl.ndim = 3;
      x.y_scale.shape = {2, 3, 4};
      x.y_scale.strides = {12, 4, 1};
      spoil(x);
    };
  return all;
}

std::vector<spoiled<norm>> problems_of_matrices() {
  using s = norm;
  return {
      {"b of y", [](s& x) { x.y.shape[0] = 1; }, TK_BAD_SHAPE, {"y has b = 1", "x", "2"}},
      {"h of r", [](s& x) { x.r.shape[1] = 2; }, TK_BAD_SHAPE, {"r has h = 2", "x", "3"}},
      {"rows of y", [](s& x) { x.y.shape[2] = 3; }, TK_BAD_SHAPE, {"y has rows = 3", "x", "4"}},
      {"width of residual",
       [](s& x) { x.residual.shape[3] = 1; },
       TK_BAD_SHAPE,
       {"residual has width = 1", "x", "20"}},
      {"weight", [](s& x) { x.weight.shape[0] = 4; }, TK_BAD_SHAPE, {"weight has width = 4", "20"}},
      {"bias", [](s& x) { x.bias.shape[0] = 4; }, TK_BAD_SHAPE, {"bias has width = 4", "20"}},
      {"residual of one matrix",
       [](s& x) {
         x.residual.dl.ndim = 2;
         x.residual.shape = {4, 20};
         x.residual.strides = {20, 1};
       },
       TK_BAD_SHAPE,
       {"residual has b = 1", "x", "2"}},
      {"y of as many rows",
       [](s& x) {
         x.y.dl.ndim = 2;
         x.y.shape = {24, 20};
         x.y.strides = {20, 1};
       },
       TK_BAD_SHAPE,
       {"y has b = 1", "x", "2"}},
      {"matrices of y in one place",
       [](s& x) { x.y.strides[1] = 0; },
       TK_BAD_OVERLAP,
       {"y", "[2, 3, 4, 20]", "[240, 0, 20, 1]"}},
  };
}
std::vector<spoiled<norm_fp8>> scales_of_matrices() {
  using s = norm_fp8;
  return {
      {"b of y_scale",
       [](s& x) { x.y_scale.shape[0] = 1; },
       TK_BAD_SHAPE,
       {"y_scale has b = 1", "x", "2"}},
      {"rows of y_scale",
       [](s& x) { x.y_scale.shape[2] = 20; },
       TK_BAD_SHAPE,
       {"y_scale has rows = 20", "x", "4"}},
      {"y_scale of one dimension",
       [](s& x) {
         x.y_scale.dl.ndim = 1;
         x.y_scale.shape = {24};
         x.y_scale.strides = {1};
       },
       TK_BAD_RANK,
       {"y_scale has 1", "x has 4", "must have 3"}},
      {"y_scale of x's dimensions",
       [](s& x) { x.y_scale.dl.ndim = 4; },
       TK_BAD_RANK,
       {"y_scale has 4 dimensions", "0 to 3"}},
      {"scales of a matrix in one place",
       [](s& x) { x.y_scale.strides[2] = 0; },
       TK_BAD_OVERLAP,
       {"y_scale", "[12, 4, 0]"}},
  };
}

std::vector<spoiled<norm>> scale_without_fp8() {
  using s = norm;
  return {
      {"y_scale", [](s& x) { x.y_scale.given = &x.y_scale.dl; }, TK_BAD_TYPE, {"y is not of fp8"}},
      {"y_scale_kind",
       [](s& x) { x.problem.y_scale_kind = TK_SCALE_GIVEN; },
       TK_BAD_VALUE,
       {"y_scale_kind is 4", "must be 0"}},
      {"power_of_two",
       [](s& x) { x.problem.power_of_two = 1; },
       TK_BAD_VALUE,
       {"power_of_two is 1", "must be 0"}},
      {"y of fp8, x of fp32",
       [](s& x) { x.y.dl.dtype = fp8_e5m2; },
       TK_BAD_TYPE,
       {"x is fp32", "bf16 or fp16"}},
  };
}

std::vector<spoiled<norm_fp8>> fp8_problems() {
  using s = norm_fp8;
  return {
      {"rows of y", [](s& x) { x.y.shape[0] = 3; }, TK_BAD_SHAPE, {"y has rows = 3", "2"}},
      {"rows of y_scale",
       [](s& x) { x.y_scale.shape[0] = 3; },
       TK_BAD_SHAPE,
       {"y_scale has rows = 3", "x", "2"}},
      {"y_scale of one row",
       [](s& x) { x.y_scale.dl.ndim = 0; },
       TK_BAD_RANK,
       {"y_scale has 0", "x has 2", "must have 1"}},
      {"y_scale bf16", [](s& x) { x.y_scale.dl.dtype = bf16; }, TK_BAD_TYPE, {"y_scale is bf16"}},
      {"y e4m3fnuz", [](s& x) { x.y.dl.dtype.code = 11; }, TK_BAD_TYPE, {"y", "code 11"}},
      {"residual and r fp32",
       [](s& x) { x.residual.dl.dtype = x.r.dl.dtype = fp32; },
       TK_BAD_TYPE,
       {"residual or r is fp32", "fp8"}},
      {"r fp32 alone",
       [](s& x) {
         x.residual.given = nullptr;
         x.r.dl.dtype = fp32;
       },
       TK_BAD_TYPE,
       {"residual or r is fp32", "fp8"}},
      {"dropout",
       [](s& x) { x.problem.dropout = 0.5f; },
       TK_UNSUPPORTED,
       {"dropout is 128/256", "fp8", "must be 0"}},
      {"y_scale_kind",
       [](s& x) { x.problem.y_scale_kind = TK_SCALE_TENSOR; },
       TK_BAD_VALUE,
       {"y_scale_kind is 3", "TK_SCALE_ROW or TK_SCALE_GIVEN"}},
      {"y_scale_kind 5",
       [](s& x) { x.problem.y_scale_kind = as<tk_scale_kind>(5); },
       TK_BAD_VALUE,
       {"y_scale_kind is 5"}},
      {"power_of_two 2",
       [](s& x) { x.problem.power_of_two = 2; },
       TK_BAD_VALUE,
       {"power_of_two is 2", "0 or 1"}},
      {"one y_scale for all",
       [](s& x) { x.y_scale.strides[0] = 0; },
       TK_BAD_OVERLAP,
       {"y_scale", "[0]"}},
  };
}
std::vector<spoiled<norm_fp8_given>> given_problems() {
  using s = norm_fp8_given;
  return {
      {"two", [](s& x) { x.y_scale.shape[0] = 2; }, TK_BAD_SHAPE, {"numbers = 2", "must have 1"}},
      {"power_of_two",
       [](s& x) { x.problem.power_of_two = 1; },
       TK_BAD_VALUE,
       {"power_of_two is 1", "TK_SCALE_GIVEN", "0"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  check_scene<norm>();
  check_scene<norm_fp8>();
  check_scene<norm_fp8_given>();
}

TEST_CASE("refusals") {
  check_refusals<norm>(
      2, {{1024, 128}, {1024, 128}, {128}, {128}, {1024, 128}, {1024, 128}, {2}}, {TK_UNSUPPORTED},
      [] {
        try_all(norm_problems());
        try_all(in_matrices(problems_of_matrices()));
        try_all(scale_without_fp8());
        try_faults<norm_fp8>(faults(), 1);
        try_all(fp8_problems());
        try_all(in_matrices(scales_of_matrices()));
        try_all(given_problems());
        try_overlaps<norm_fp8>();
        try_overlaps<norm_fp8_given>();
        norm_fp8 large;
        enlarge(large,
                {{1024, 128}, {1024, 128}, {128}, {128}, {1024, 128}, {1024, 128}, {2}, {1024}});
        CHECK(try_workspace(large));
      });
}
