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

std::vector<spoiled<interleaved_activation>> interleaved_problems() {
  using s = interleaved_activation;
  return {
      {"interleaved 2",
       [](s& x) { x.problem.interleaved = 2; },
       TK_BAD_VALUE,
       {"interleaved is 2", "0 or 1"}},
      {"reserved_interleaved",
       [](s& x) { x.problem.reserved_interleaved = 5; },
       TK_BAD_STRUCT,
       {"reserved_interleaved is 5"}},
      {"b", [](s& x) { x.b.given = &x.b.dl; }, TK_BAD_VALUE, {"b is given", "interleaved is 1"}},
      {"fp32",
       [](s& x) { x.a.dl.dtype = x.y.dl.dtype = fp32; },
       TK_BAD_TYPE,
       {"a is fp32", "bf16 or fp16"}},
      {"y, a", [](s& x) { x.y.dl.dtype = fp16; }, TK_BAD_TYPE, {"y is fp16", "a is bf16"}},
      {"width of y",
       [](s& x) { x.y.shape[2] = 19; },
       TK_BAD_SHAPE,
       {"y has width = 19", "a has width = 40", "half"}},
      {"width of y, that of a",
       [](s& x) { x.y.shape[2] = 40; },
       TK_BAD_SHAPE,
       {"y has width = 40", "a has width = 40", "half"}},
      {"odd width", [](s& x) { x.a.shape[2] = 41; }, TK_BAD_SHAPE, {"a has width = 41", "even"}},
      {"rows of y", [](s& x) { x.y.shape[1] = 4; }, TK_BAD_SHAPE, {"y has rows = 4", "a", "3"}},
      {"y of rank 4", [](s& x) { x.y.dl.ndim = 4; }, TK_BAD_RANK, {"y has 4", "a has 3"}},
      {"odd stride of rows",
       [](s& x) { x.a.strides[1] = 41; },
       TK_BAD_STRIDE,
       {"a has stride 41 in rows", "even"}},
      {"odd stride of matrices",
       [](s& x) { x.a.strides[0] = -121; },
       TK_BAD_STRIDE,
       {"a has stride -121 in h", "even"}},
      {"a half of a pair away",
       [](s& x) { x.a.move(2); },
       TK_BAD_ALIGNMENT,
       {"a at", "4 bytes"},
       launch_only},
      {"y on a",
       [](s& x) {
         x.y.dl.data = x.a.dl.data;
         x.y.strides = x.a.strides;
       },
       TK_BAD_OVERLAP,
       {"y at", "a at"},
       launch_only},
  };
}

}  // namespace

TEST_CASE("the scene of pairs is a correct problem and writes its output") {
  check_scene<interleaved_activation>();
}
TEST_CASE("refusals of pairs") {
  try_faults<interleaved_activation>(faults(), 1);
  try_all(interleaved_problems());
  try_overlaps<interleaved_activation>();
  statuses_met().clear();
}

TEST_CASE("the scene is a correct problem and writes its output") { check_scene<activation>(); }

TEST_CASE("refusals") {
  check_refusals<activation>(2, {{16, 64, 128}, {16, 64, 128}, {16, 64, 128}}, {},
                             [] { try_all(activation_problems()); });
}
