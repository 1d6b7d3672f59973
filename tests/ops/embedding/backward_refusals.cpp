// SPDX-License-Identifier: MIT
// What can be wrong with a problem of the backward: shapes, types, values and overlaps, each with
// the status and the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/embedding/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<embedding_backward>> backward_problems() {
  using s = embedding_backward;
  return {
      {"s of dy", [](s& x) { x.dy.shape[0] = 1; }, TK_BAD_SHAPE, {"dy has s = 1", "ids", "2"}},
      {"n of dy", [](s& x) { x.dy.shape[1] = 4; }, TK_BAD_SHAPE, {"dy has n = 4", "ids", "3"}},
      {"d of dy", [](s& x) { x.dy.shape[2] = 19; }, TK_BAD_SHAPE, {"dy has d = 19", "dtable"}},
      {"dy of rank 2",
       [](s& x) { x.dy.dl.ndim = 2, x.dy.strides[1] = 1; },
       TK_BAD_RANK,
       {"dy has 2", "ids has 2", "3"}},
      {"dtable of rank 1", [](s& x) { x.dtable.dl.ndim = 1; }, TK_BAD_RANK, {"dtable has 1", "2"}},
      {"dtable, dy",
       [](s& x) { x.dtable.dl.dtype = bf16; },
       TK_BAD_TYPE,
       {"dtable is bf16", "dy is fp32"}},
      {"ids of fp32", [](s& x) { x.ids.dl.dtype = fp32; }, TK_BAD_TYPE, {"ids is fp32"}},
      {"ignores 2", [](s& x) { x.problem.ignores = 2; }, TK_BAD_VALUE, {"ignores is 2", "0 or 1"}},
      {"ignored_id",
       [](s& x) { x.problem.ignored_id = -7; },
       TK_BAD_VALUE,
       {"ignored_id is -7", "ignores is 0"}},
      {"reserved2", [](s& x) { x.problem.reserved2 = 3; }, TK_BAD_STRUCT, {"reserved2 is 3"}},
      {"rows of dtable in one place",
       [](s& x) { x.dtable.strides[0] = 0; },
       TK_BAD_OVERLAP,
       {"dtable", "[0, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its output") {
  check_scene<embedding_backward>();
}

TEST_CASE("refusals") {
  check_refusals<embedding_backward>(3, {{16, 64, 128}, {16, 64}, {64, 128}}, {},
                                     [] { try_all(backward_problems()); });
}
