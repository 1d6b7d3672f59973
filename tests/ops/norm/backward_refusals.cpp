// SPDX-License-Identifier: MIT
// What can be wrong with a problem of the backward: shapes, types, values and overlaps, each with
// the status and the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/norm/backward_scene.hpp"

namespace {

using namespace scene;
using s = norm_backward;

std::vector<spoiled<s>> wrong_shapes() {
  return {
      {"h of dy", [](s& x) { x.dy.shape[0] = 1; }, TK_BAD_SHAPE, {"dy has h = 1", "r", "2"}},
      {"rows of dr", [](s& x) { x.dr.shape[1] = 4; }, TK_BAD_SHAPE, {"dr has rows = 4", "r", "3"}},
      {"rows of dx", [](s& x) { x.dx.shape[1] = 2; }, TK_BAD_SHAPE, {"dx has rows = 2", "r", "3"}},
      {"width of dx", [](s& x) { x.dx.shape[2] = 21; }, TK_BAD_SHAPE, {"dx has width = 21", "20"}},
      {"weight", [](s& x) { x.weight.shape[0] = 6; }, TK_BAD_SHAPE, {"weight has width = 6", "20"}},
      {"dweight", [](s& x) { x.dweight.shape[0] = 3; }, TK_BAD_SHAPE, {"dweight has width = 3"}},
      {"dbias", [](s& x) { x.dbias.shape[0] = 21; }, TK_BAD_SHAPE, {"dbias has width = 21", "20"}},
      {"rank 5", [](s& x) { x.r.dl.ndim = 5; }, TK_BAD_RANK, {"r has 5 dimensions", "1 to 4"}},
      {"dy of rank 4",
       [](s& x) { x.dy.dl.ndim = 4; },
       TK_BAD_RANK,
       {"dy has 4 dimensions", "r has 3"}},
      {"dx of rank 2",
       [](s& x) { x.dx.dl.ndim = 2, x.dx.strides[1] = 1, x.dx.strides[0] = 3; },
       TK_BAD_RANK,
       {"dx has 2", "r has 3"}},
      {"dbias of rank 2", [](s& x) { x.dbias.dl.ndim = 2; }, TK_BAD_RANK, {"dbias has 2", "1"}},
  };
}

std::vector<spoiled<s>> wrong_types() {
  auto const rows = [](s& x, DLDataType type) {
    for (auto* t : x.rows()) t->dl.dtype = type;
  };
  return {
      {"dy, r", [](s& x) { x.r.dl.dtype = bf16; }, TK_BAD_TYPE, {"r is bf16", "dy is fp32"}},
      {"dx, dy", [](s& x) { x.dy.dl.dtype = bf16; }, TK_BAD_TYPE, {"dx is fp32", "dy is bf16"}},
      {"dresidual, r",
       [](s& x) { x.dresidual.dl.dtype = fp16; },
       TK_BAD_TYPE,
       {"dresidual is fp16", "r is fp32"}},
      {"dresidual of dy's type, r fp32",
       [](s& x) {
         for (auto* t : {&x.dy, &x.dx, &x.dresidual}) t->dl.dtype = bf16;
       },
       TK_BAD_TYPE,
       {"dresidual is bf16", "r is fp32"}},
      {"dr, r", [](s& x) { x.dr.dl.dtype = fp16; }, TK_BAD_TYPE, {"dr is fp16", "r is fp32"}},
      {"dx, dy", [](s& x) { x.dx.dl.dtype = bf16; }, TK_BAD_TYPE, {"dx is bf16", "dy is fp32"}},
      {"weight, r",
       [](s& x) { x.weight.dl.dtype = fp16; },
       TK_BAD_TYPE,
       {"weight is fp16", "dy is fp32"}},
      {"dweight, r",
       [=](s& x) {
         rows(x, bf16);
         x.dweight.dl.dtype = fp16;
       },
       TK_BAD_TYPE,
       {"dweight is fp16", "dy is bf16"}},
      {"dbias, dweight",
       [=](s& x) {
         rows(x, bf16);
         x.dweight.dl.dtype = bf16;
       },
       TK_BAD_TYPE,
       {"dbias is fp32", "dweight is bf16"}},
  };
}

std::vector<spoiled<s>> wrong_values() {
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"kind",
       [](s& x) { x.problem.kind = as<tk_norm_kind>(2); },
       TK_BAD_VALUE,
       {"kind is 2", "TK_NORM_LAYER or TK_NORM_RMS"}},
      {"eps nan", [](s& x) { x.problem.eps = inf - inf; }, TK_BAD_VALUE, {"eps is", "nan"}},
      {"eps inf", [](s& x) { x.problem.eps = inf; }, TK_BAD_VALUE, {"eps is inf"}},
      {"eps -1", [](s& x) { x.problem.eps = -1; }, TK_BAD_VALUE, {"eps is -1"}},
      {"dropout 1", [](s& x) { x.problem.dropout = 1; }, TK_BAD_VALUE, {"dropout is 1", "255/256"}},
      {"dropout", [](s& x) { x.problem.dropout = -1; }, TK_BAD_VALUE, {"dropout is -1"}},
      {"dropout nan", [](s& x) { x.problem.dropout = inf - inf; }, TK_BAD_VALUE, {"dropout is"}},
      {"reserved2", [](s& x) { x.problem.reserved2 = 3; }, TK_BAD_STRUCT, {"reserved2 is 3"}},
      {"dropout without dresidual",
       [](s& x) {
         x.problem.dropout = 0.25f;
         x.dresidual.given = nullptr;
       },
       TK_NULL_POINTER,
       {"dresidual is NULL", "dropout is 0.25"}},
      {"random_state of one",
       [](s& x) { x.random_state.shape[0] = 1; },
       TK_BAD_SHAPE,
       {"random_state has 2 = 1"}},
  };
}

// Overlaps of its own: one that is in place but for its type or strides, and within an output.
std::vector<spoiled<s>> overlaps() {
  return {
      {"dx on r of another type",
       [](s& x) {
         x.dx.dl.data = x.r.dl.data;
         for (auto* t : {&x.dy, &x.dx}) t->dl.dtype = bf16;
       },
       TK_BAD_OVERLAP,
       {"dx at", "r at"},
       launch_only},
      {"dx on r, other strides",
       [](s& x) {
         x.dx.dl.data = x.r.dl.data;
         x.dx.strides[1] = 24, x.dx.strides[0] = 72;
       },
       TK_BAD_OVERLAP,
       {"dx at", "r at"},
       launch_only},
      {"rows of dx overlap",
       [](s& x) { x.dx.strides[1] = 19; },
       TK_BAD_OVERLAP,
       {"dx", "[2, 3, 20]", "[60, 19, 1]"}},
      {"matrices of dx in one place",
       [](s& x) { x.dx.strides[0] = 0; },
       TK_BAD_OVERLAP,
       {"dx", "[0, 20, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its output") { check_scene<s>(); }

TEST_CASE("refusals") {
  std::vector<std::int64_t> const rows{16, 64, 128};
  check_refusals<s>(2, {rows, rows, {128}, rows, rows, {128}, {128}, rows, {2}}, {}, [] {
    try_all(wrong_shapes());
    try_all(wrong_types());
    try_all(wrong_values());
    try_all(overlaps());
  });
}
