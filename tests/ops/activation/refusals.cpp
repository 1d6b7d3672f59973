// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/activation/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<activation>> activation_problems() {
  using s = activation;
  return {
      {"h of y", [](s& x) { x.y.shape[0] = 1; }, TK_BAD_SHAPE, {"y has h = 1", "a", "2"}},
      {"rows of b", [](s& x) { x.b.shape[1] = 4; }, TK_BAD_SHAPE, {"b has rows = 4", "a", "3"}},
      {"width of y", [](s& x) { x.y.shape[2] = 21; }, TK_BAD_SHAPE, {"y has width = 21", "20"}},
      {"one row of b", [](s& x) { x.b.shape[1] = 1; }, TK_BAD_SHAPE, {"b has rows = 1", "3"}},
      {"rank 5", [](s& x) { x.a.dl.ndim = 5; }, TK_BAD_RANK, {"a has 5 dimensions", "1 to 4"}},
      {"y of rank 4",
       [](s& x) { x.y.dl.ndim = 4; },
       TK_BAD_RANK,
       {"y has 4 dimensions", "a has 3"}},
      {"y, a", [](s& x) { x.y.dl.dtype = bf16; }, TK_BAD_TYPE, {"y is bf16", "a is fp32"}},
      {"b, a", [](s& x) { x.b.dl.dtype = fp16; }, TK_BAD_TYPE, {"b is fp16", "a is fp32"}},
      {"kind",
       [](s& x) { x.problem.kind = as<tk_activation_kind>(6); },
       TK_BAD_VALUE,
       {"kind is 6", "TK_ACTIVATION_NONE, TK_ACTIVATION_RELU", "TK_ACTIVATION_SIGMOID"}},
      {"kind -1",
       [](s& x) { x.problem.kind = as<tk_activation_kind>(-1); },
       TK_BAD_VALUE,
       {"kind is -1"}},
      {"reserved_kind",
       [](s& x) { x.problem.reserved_kind = 3; },
       TK_BAD_STRUCT,
       {"reserved_kind is 3"}},
      {"y on a, moved",
       [](s& x) {
         x.y.dl.data = x.a.dl.data;
         x.y.move(4);
       },
       TK_BAD_OVERLAP,
       {"y at", "a at"},
       launch_only},
      {"y on b, other strides",
       [](s& x) {
         x.y.dl.data = x.b.dl.data;
         x.y.strides[1] = 24, x.y.strides[0] = 72;
       },
       TK_BAD_OVERLAP,
       {"y at", "b at"},
       launch_only},
      {"halves of one tensor, y on both",
       [](s& x) {
         for (auto* t : x.all()) t->strides[1] = 40, t->strides[0] = 120;
         x.b.dl.data = x.a.dl.data;
         x.b.move(80);
         x.y.dl.data = x.a.dl.data;
         x.y.move(40);
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

TEST_CASE("the scene is a correct problem and writes its output") { check_scene<activation>(); }

TEST_CASE("refusals") {
  check_refusals<activation>(2, {{16, 64, 128}, {16, 64, 128}, {16, 64, 128}}, {},
                             [] { try_all(activation_problems()); });
}
