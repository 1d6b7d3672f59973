// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/add/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<add>> problems() {
  using s = add;
  return {
      {"h of y", [](s& x) { x.y.shape[0] = 1; }, TK_BAD_SHAPE, {"y has h = 1", "a", "2"}},
      {"rows of y", [](s& x) { x.y.shape[1] = 4; }, TK_BAD_SHAPE, {"y has rows = 4", "a", "3"}},
      {"width of y", [](s& x) { x.y.shape[2] = 21; }, TK_BAD_SHAPE, {"y has width = 21", "20"}},
      {"h of b", [](s& x) { x.b.shape[0] = 3; }, TK_BAD_SHAPE, {"b has h = 3", "1", "a", "2"}},
      {"rows of b", [](s& x) { x.b.shape[1] = 2; }, TK_BAD_SHAPE, {"b has rows = 2", "3"}},
      {"no rows of b", [](s& x) { x.b.shape[1] = 0; }, TK_BAD_SHAPE, {"b has rows = 0"}},
      {"width of b", [](s& x) { x.b.shape[2] = 1; }, TK_BAD_SHAPE, {"b has width = 1", "20"}},
      {"a of rank 5", [](s& x) { x.a.dl.ndim = 5; }, TK_BAD_RANK, {"a has 5 dimensions", "1 to 4"}},
      {"y of rank 4",
       [](s& x) { x.y.dl.ndim = 4; },
       TK_BAD_RANK,
       {"y has 4 dimensions", "a has 3"}},
      {"b of rank 1",
       [](s& x) {
         x.b.dl.ndim = 1;
         x.b.shape[0] = 20;
         x.b.strides[0] = 1;
       },
       TK_BAD_RANK,
       {"b has 1", "a has 3"}},
      {"b of a's type, which is not y's",
       [](s& x) { x.y.dl.dtype = bf16; },
       TK_BAD_TYPE,
       {"b is fp32", "y is bf16"}},
      {"b of another type", [](s& x) { x.b.dl.dtype = fp16; }, TK_BAD_TYPE, {"b is fp16", "fp32"}},
      {"no b", [](s& x) { x.b.given = nullptr; }, TK_NULL_POINTER, {"b is NULL but beta is 1"}},
      {"no b, beta NaN",
       [](s& x) {
         x.b.given = nullptr;
         x.problem.beta = std::numeric_limits<float>::quiet_NaN();
       },
       TK_NULL_POINTER,
       {"b is NULL but beta is", "nan"}},
      {"y on a, other strides",
       [](s& x) {
         x.y.dl.data = x.a.dl.data;
         x.y.strides[1] = 24, x.y.strides[0] = 72;
       },
       TK_BAD_OVERLAP,
       {"y at", "a at"},
       launch_only},
      {"y on a, of another type",
       [](s& x) {
         x.y.dl.data = x.a.dl.data;
         x.a.dl.dtype = bf16;
       },
       TK_BAD_OVERLAP,
       {"y at", "a at"},
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

TEST_CASE("the scene is a correct problem and writes its output") { check_scene<add>(); }

TEST_CASE("refusals") {
  check_refusals<add>(2, {{16, 64, 128}, {1, 64, 128}, {16, 64, 128}}, {},
                      [] { try_all(problems()); });
}
