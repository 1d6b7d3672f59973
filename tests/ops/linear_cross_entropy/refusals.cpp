// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/cross_entropy/option_faults.hpp"
#include "tests/ops/linear_cross_entropy/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<linear_cross_entropy>> problems() {
  using s = linear_cross_entropy;
  auto const set = [](tensor s::* t, std::size_t axis, std::int64_t size) {
    return [=](s& x) { (x.*t).shape[axis] = size; };
  };
  auto const typed = [](tensor s::* t, DLDataType type) {
    return [=](s& x) { (x.*t).dl.dtype = type; };
  };
  return {
      {"d of w", set(&s::w, 1, 7), TK_BAD_SHAPE, {"w has d = 7", "8"}},
      {"labels", set(&s::labels, 0, 5), TK_BAD_SHAPE, {"labels has rows = 5", "6"}},
      {"loss", set(&s::loss, 0, 7), TK_BAD_SHAPE, {"loss has rows = 7", "6"}},
      {"lse", set(&s::lse, 0, 1), TK_BAD_SHAPE, {"lse has rows = 1", "6"}},
      {"rows of dx", set(&s::dx, 0, 5), TK_BAD_SHAPE, {"dx has rows = 5", "6"}},
      {"d of dx", set(&s::dx, 1, 9), TK_BAD_SHAPE, {"dx has d = 9", "8"}},
      {"vocab of dw", set(&s::dw, 0, 19), TK_BAD_SHAPE, {"dw has vocab = 19", "20"}},
      {"d of dw", set(&s::dw, 1, 7), TK_BAD_SHAPE, {"dw has d = 7", "8"}},
      {"x of rank 3", [](s& x) { x.x.dl.ndim = 3; }, TK_BAD_RANK, {"x has 3", "2"}},
      {"labels of rank 2", [](s& x) { x.labels.dl.ndim = 2; }, TK_BAD_RANK, {"labels has 2", "1"}},
      {"x of fp32", typed(&s::x, fp32), TK_BAD_TYPE, {"x is fp32", "bf16 or fp16"}},
      {"w, x", typed(&s::w, fp16), TK_BAD_TYPE, {"w is fp16", "x is bf16"}},
      {"dx, x", typed(&s::dx, fp16), TK_BAD_TYPE, {"dx is fp16", "x is bf16"}},
      {"dw, w", typed(&s::dw, fp16), TK_BAD_TYPE, {"dw is fp16", "w is bf16"}},
      {"unsigned labels", typed(&s::labels, uint64), TK_BAD_TYPE, {"labels is uint64", "int32"}},
      {"lse of bf16", typed(&s::lse, bf16), TK_BAD_TYPE, {"lse is bf16", "fp32"}},
      {"no vocab",
       [](s& x) { x.w.shape[0] = x.dw.shape[0] = 0; },
       TK_UNSUPPORTED,
       {"vocab = 0", "1 or more"}},
      {"chunk -1",
       [](s& x) { x.problem.chunk_rows = -1; },
       TK_BAD_VALUE,
       {"chunk_rows is -1", "0 or more"}},
      {"dloss_scale",
       [](s& x) { x.problem.dloss_scale = std::numeric_limits<float>::infinity(); },
       TK_BAD_VALUE,
       {"dloss_scale is inf", "finite"}},
      {"reserved2", [](s& x) { x.problem.reserved2 = 3; }, TK_BAD_STRUCT, {"reserved2 is 3"}},
      {"rows of dx overlap",
       [](s& x) { x.dx.strides[0] = 7; },
       TK_BAD_OVERLAP,
       {"dx", "[6, 8]", "[7, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its outputs") {
  check_scene<linear_cross_entropy>();
}

TEST_CASE("refusals") {
  check_refusals<linear_cross_entropy>(
      3, {{64, 128}, {512, 128}, {64}, {64}, {64}, {64, 128}, {512, 128}}, {TK_UNSUPPORTED}, [] {
        try_all(problems());
        try_all(option_faults<linear_cross_entropy>());
      });
}
