// SPDX-License-Identifier: MIT
// What can be wrong with a problem of the backward: shapes, types, values and overlaps, each with
// the status and the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/activation/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<activation_backward>> backward_problems() {
  using s = activation_backward;
  return {
      {"h of dy", [](s& x) { x.dy.shape[0] = 1; }, TK_BAD_SHAPE, {"dy has h = 1", "a", "2"}},
      {"rows of b", [](s& x) { x.b.shape[1] = 4; }, TK_BAD_SHAPE, {"b has rows = 4", "a", "3"}},
      {"width of da", [](s& x) { x.da.shape[2] = 21; }, TK_BAD_SHAPE, {"da has width = 21", "20"}},
      {"h of db", [](s& x) { x.db.shape[0] = 1; }, TK_BAD_SHAPE, {"db has h = 1", "2"}},
      {"rank 5", [](s& x) { x.a.dl.ndim = 5; }, TK_BAD_RANK, {"a has 5 dimensions", "1 to 4"}},
      {"dy of rank 4",
       [](s& x) { x.dy.dl.ndim = 4; },
       TK_BAD_RANK,
       {"dy has 4 dimensions", "a has 3"}},
      {"dy, a", [](s& x) { x.dy.dl.dtype = bf16; }, TK_BAD_TYPE, {"dy is bf16", "a is fp32"}},
      {"da, a", [](s& x) { x.da.dl.dtype = fp16; }, TK_BAD_TYPE, {"da is fp16", "a is fp32"}},
      {"db, a", [](s& x) { x.db.dl.dtype = fp16; }, TK_BAD_TYPE, {"db is fp16", "a is fp32"}},
      {"db without b",
       [](s& x) { x.b.given = nullptr; },
       TK_NULL_POINTER,
       {"b is NULL but db is given"}},
      {"no gradient",
       [](s& x) { x.da.given = x.db.given = nullptr; },
       TK_NULL_POINTER,
       {"da is NULL, and so is db"}},
      {"kind",
       [](s& x) { x.problem.kind = as<tk_activation_kind>(6); },
       TK_BAD_VALUE,
       {"kind is 6", "TK_ACTIVATION_NONE, TK_ACTIVATION_RELU", "TK_ACTIVATION_SIGMOID"}},
      {"reserved_kind",
       [](s& x) { x.problem.reserved_kind = -1; },
       TK_BAD_STRUCT,
       {"reserved_kind is -1"}},
      {"db on dy, other strides",
       [](s& x) {
         x.db.dl.data = x.dy.dl.data;
         x.db.strides[1] = 24, x.db.strides[0] = 72;
       },
       TK_BAD_OVERLAP,
       {"db at", "dy at"},
       launch_only},
      {"da and db on a",
       [](s& x) { x.db.dl.data = x.da.dl.data = x.a.dl.data; },
       TK_BAD_OVERLAP,
       {"da at", "db at"},
       launch_only},
      {"rows of da overlap",
       [](s& x) { x.da.strides[1] = 19; },
       TK_BAD_OVERLAP,
       {"da", "[2, 3, 20]", "[60, 19, 1]"}},
      {"matrices of db in one place",
       [](s& x) { x.db.strides[0] = 0; },
       TK_BAD_OVERLAP,
       {"db", "[0, 20, 1]"}},
  };
}

std::vector<spoiled<interleaved_activation_backward>> interleaved_problems() {
  using s = interleaved_activation_backward;
  return {
      {"interleaved -1",
       [](s& x) { x.problem.interleaved = -1; },
       TK_BAD_VALUE,
       {"interleaved is -1", "0 or 1"}},
      {"reserved_interleaved",
       [](s& x) { x.problem.reserved_interleaved = 1; },
       TK_BAD_STRUCT,
       {"reserved_interleaved is 1"}},
      {"b", [](s& x) { x.b.given = &x.b.dl; }, TK_BAD_VALUE, {"b is given", "interleaved is 1"}},
      {"db", [](s& x) { x.db.given = &x.db.dl; }, TK_BAD_VALUE, {"db is given", "NULL"}},
      {"no da", [](s& x) { x.da.given = nullptr; }, TK_NULL_POINTER, {"da is NULL"}},
      {"fp32", [](s& x) { x.a.dl.dtype = fp32; }, TK_BAD_TYPE, {"a is fp32", "bf16 or fp16"}},
      {"dy, a", [](s& x) { x.dy.dl.dtype = fp32; }, TK_BAD_TYPE, {"dy is fp32", "a is bf16"}},
      {"da, a", [](s& x) { x.da.dl.dtype = fp16; }, TK_BAD_TYPE, {"da is fp16", "a is bf16"}},
      {"width of dy",
       [](s& x) { x.dy.shape[2] = 40; },
       TK_BAD_SHAPE,
       {"dy has width = 40", "a has width = 40", "half"}},
      {"width of da",
       [](s& x) { x.da.shape[2] = 20; },
       TK_BAD_SHAPE,
       {"da has width = 20", "a", "40"}},
      {"odd width", [](s& x) { x.a.shape[2] = 39; }, TK_BAD_SHAPE, {"a has width = 39", "even"}},
      {"odd stride of rows of da",
       [](s& x) { x.da.strides[1] = 43; },
       TK_BAD_STRIDE,
       {"da has stride 43 in rows", "even"}},
      {"a half of a pair away",
       [](s& x) { x.da.move(2); },
       TK_BAD_ALIGNMENT,
       {"da at", "4 bytes"},
       launch_only},
      {"da on dy",
       [](s& x) {
         x.dy.dl.data = x.da.dl.data;
         x.dy.strides = x.da.strides;
       },
       TK_BAD_OVERLAP,
       {"da at", "dy at"},
       launch_only},
  };
}

}  // namespace

TEST_CASE("the scene of pairs is a correct problem and writes its output") {
  check_scene<interleaved_activation_backward>();
}
TEST_CASE("refusals of pairs") {
  try_faults<interleaved_activation_backward>(faults(), 1);
  try_all(interleaved_problems());
  try_overlaps<interleaved_activation_backward>();
  statuses_met().clear();
}

TEST_CASE("the scene is a correct problem and writes its output") {
  check_scene<activation_backward>();
}

TEST_CASE("refusals") {
  check_refusals<activation_backward>(2, std::vector<std::vector<std::int64_t>>(5, {16, 64, 128}),
                                      {}, [] { try_all(backward_problems()); });
}
