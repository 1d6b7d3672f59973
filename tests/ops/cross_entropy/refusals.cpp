// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/cross_entropy/option_faults.hpp"
#include "tests/ops/cross_entropy/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<cross_entropy>> shapes() {
  using s = cross_entropy;
  return {
      {"h of labels",
       [](s& x) { x.labels.shape[0] = 1; },
       TK_BAD_SHAPE,
       {"labels has h = 1", "x", "2"}},
      {"rows of loss",
       [](s& x) { x.loss.shape[1] = 4; },
       TK_BAD_SHAPE,
       {"loss has rows = 4", "x", "3"}},
      {"rows of lse", [](s& x) { x.lse.shape[1] = 1; }, TK_BAD_SHAPE, {"lse has rows = 1", "3"}},
      {"vocab of dx",
       [](s& x) { x.dx.shape[2] = 21; },
       TK_BAD_SHAPE,
       {"dx has vocab = 21", "x", "20"}},
      {"x of rank 5", [](s& x) { x.x.dl.ndim = 5; }, TK_BAD_RANK, {"x has 5", "1 to 4"}},
      {"labels of x's rank",
       [](s& x) { x.labels.dl.ndim = 3; },
       TK_BAD_RANK,
       {"labels has 3 dimensions", "x has 3", "2"}},
      {"loss of rank 1",
       [](s& x) { x.loss.dl.ndim = 1; },
       TK_BAD_RANK,
       {"loss has 1", "x has 3", "2"}},
      {"lse of rank 0", [](s& x) { x.lse.dl.ndim = 0; }, TK_BAD_RANK, {"lse has 0", "x has 3"}},
      {"dx of rank 4", [](s& x) { x.dx.dl.ndim = 4; }, TK_BAD_RANK, {"dx has 4", "x has 3"}},
      {"dx, x", [](s& x) { x.dx.dl.dtype = bf16; }, TK_BAD_TYPE, {"dx is bf16", "x is fp32"}},
      {"unsigned labels",
       [](s& x) { x.labels.dl.dtype = uint64; },
       TK_BAD_TYPE,
       {"labels is uint64", "int32 or int64"}},
      {"labels of fp32",
       [](s& x) { x.labels.dl.dtype = fp32; },
       TK_BAD_TYPE,
       {"labels is fp32", "int32 or int64"}},
      {"loss of bf16", [](s& x) { x.loss.dl.dtype = bf16; }, TK_BAD_TYPE, {"loss is bf16", "fp32"}},
      {"lse of bf16", [](s& x) { x.lse.dl.dtype = bf16; }, TK_BAD_TYPE, {"lse is bf16", "fp32"}},
      {"no vocab",
       [](s& x) {
         for (auto* t : {&x.x, &x.dx}) t->shape[2] = 0;
       },
       TK_UNSUPPORTED,
       {"vocab = 0", "1 or more"}},
      {"a vocab of 2^24 + 1",
       [](s& x) {
         for (auto* t : {&x.x, &x.dx}) {
           t->shape[2] = (1 << 24) + 1;
           t->dl.strides = nullptr;
         }
         x.x.move(std::int64_t{1} << 40), x.dx.move(std::int64_t{2} << 40);
       },
       TK_UNSUPPORTED,
       {"vocab = 16777217", "16777216"}},
  };
}

std::vector<spoiled<cross_entropy>> values() {
  using s = cross_entropy;
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"dloss_scale nan",
       [](s& x) { x.problem.dloss_scale = inf - inf; },
       TK_BAD_VALUE,
       {"dloss_scale is", "nan"}},
      {"dloss_scale -inf",
       [](s& x) { x.problem.dloss_scale = -inf; },
       TK_BAD_VALUE,
       {"dloss_scale is -inf"}},
      {"reserved2", [](s& x) { x.problem.reserved2 = 7; }, TK_BAD_STRUCT, {"reserved2 is 7"}},
  };
}

std::vector<spoiled<cross_entropy>> places() {
  using s = cross_entropy;
  return {
      {"dx on x, other strides",
       [](s& x) {
         x.dx.dl.data = x.x.dl.data;
         x.dx.strides[1] = 24, x.dx.strides[0] = 72;
       },
       TK_BAD_OVERLAP,
       {"dx at", "x at"},
       launch_only},
      {"rows of loss in one place",
       [](s& x) { x.loss.strides[1] = 0; },
       TK_BAD_OVERLAP,
       {"loss", "[2, 3]", "[3, 0]"}},
      {"rows of lse overlap",
       [](s& x) { x.lse.strides[0] = 2; },
       TK_BAD_OVERLAP,
       {"lse", "[2, 3]", "[2, 1]"}},
      {"rows of dx overlap",
       [](s& x) { x.dx.strides[1] = 19; },
       TK_BAD_OVERLAP,
       {"dx", "[2, 3, 20]", "[60, 19, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its output") { check_scene<cross_entropy>(); }

TEST_CASE("refusals") {
  check_refusals<cross_entropy>(2, {{16, 64, 128}, {16, 64}, {16, 64}, {16, 64}, {16, 64, 128}},
                                {TK_UNSUPPORTED}, [] {
                                  try_all(shapes());
                                  try_all(values());
                                  try_all(option_faults<cross_entropy>());
                                  try_all(places());
                                });
}
