// SPDX-License-Identifier: MIT
// What can be wrong with a problem of the backward: shapes, types, values and overlaps, each with
// the status and the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/cross_entropy/option_faults.hpp"
#include "tests/ops/cross_entropy/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<cross_entropy_backward>> backward_problems() {
  using s = cross_entropy_backward;
  return {
      {"h of labels", [](s& x) { x.labels.shape[0] = 1; }, TK_BAD_SHAPE, {"labels has h = 1", "2"}},
      {"rows of lse", [](s& x) { x.lse.shape[1] = 4; }, TK_BAD_SHAPE, {"lse has rows = 4", "3"}},
      {"rows of dloss",
       [](s& x) { x.dloss.shape[1] = 1; },
       TK_BAD_SHAPE,
       {"dloss has rows = 1", "x", "3"}},
      {"vocab of dx", [](s& x) { x.dx.shape[2] = 19; }, TK_BAD_SHAPE, {"dx has vocab = 19", "20"}},
      {"x of rank 5", [](s& x) { x.x.dl.ndim = 5; }, TK_BAD_RANK, {"x has 5", "1 to 4"}},
      {"dloss of rank 0", [](s& x) { x.dloss.dl.ndim = 0; }, TK_BAD_RANK, {"dloss has 0", "2"}},
      {"lse of rank 3", [](s& x) { x.lse.dl.ndim = 3; }, TK_BAD_RANK, {"lse has 3", "x has 3"}},
      {"dx of rank 4", [](s& x) { x.dx.dl.ndim = 4; }, TK_BAD_RANK, {"dx has 4", "x has 3"}},
      {"dx, x", [](s& x) { x.dx.dl.dtype = fp16; }, TK_BAD_TYPE, {"dx is fp16", "x is fp32"}},
      {"unsigned labels",
       [](s& x) { x.labels.dl.dtype = uint64; },
       TK_BAD_TYPE,
       {"labels is uint64", "int32 or int64"}},
      {"lse of bf16", [](s& x) { x.lse.dl.dtype = bf16; }, TK_BAD_TYPE, {"lse is bf16", "fp32"}},
      {"dloss of bf16",
       [](s& x) { x.dloss.dl.dtype = bf16; },
       TK_BAD_TYPE,
       {"dloss is bf16", "fp32"}},
      {"no vocab",
       [](s& x) {
         for (auto* t : {&x.x, &x.dx}) t->shape[2] = 0;
       },
       TK_UNSUPPORTED,
       {"vocab = 0", "1 or more"}},
      {"rows of dx overlap",
       [](s& x) { x.dx.strides[1] = 19; },
       TK_BAD_OVERLAP,
       {"dx", "[2, 3, 20]", "[60, 19, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its output") {
  check_scene<cross_entropy_backward>();
}

TEST_CASE("refusals") {
  check_refusals<cross_entropy_backward>(
      2, {{16, 64, 128}, {16, 64}, {16, 64}, {16, 64}, {16, 64, 128}}, {TK_UNSUPPORTED}, [] {
        try_all(backward_problems());
        try_all(option_faults<cross_entropy_backward>());
      });
}
