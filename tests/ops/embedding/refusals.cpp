// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/embedding/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<embedding>> problems() {
  using s = embedding;
  return {
      {"s of y", [](s& x) { x.y.shape[0] = 1; }, TK_BAD_SHAPE, {"y has s = 1", "ids", "2"}},
      {"n of y", [](s& x) { x.y.shape[1] = 4; }, TK_BAD_SHAPE, {"y has n = 4", "ids", "3"}},
      {"d of y", [](s& x) { x.y.shape[2] = 19; }, TK_BAD_SHAPE, {"y has d = 19", "table", "20"}},
      {"y of rank 2",
       [](s& x) { x.y.dl.ndim = 2, x.y.strides[1] = 1; },
       TK_BAD_RANK,
       {"y has 2", "ids has 2", "3"}},
      {"y of rank 1", [](s& x) { x.y.dl.ndim = 1; }, TK_BAD_RANK, {"y has 1", "2 to 4"}},
      {"table of rank 3", [](s& x) { x.table.dl.ndim = 3; }, TK_BAD_RANK, {"table has 3", "2"}},
      {"ids of rank 4", [](s& x) { x.ids.dl.ndim = 4; }, TK_BAD_RANK, {"ids has 4", "1 to 3"}},
      {"y, table", [](s& x) { x.y.dl.dtype = bf16; }, TK_BAD_TYPE, {"y is bf16", "table is fp32"}},
      {"ids of fp32",
       [](s& x) { x.ids.dl.dtype = fp32; },
       TK_BAD_TYPE,
       {"ids is fp32", "int32 or int64"}},
      {"ids of uint64", [](s& x) { x.ids.dl.dtype = uint64; }, TK_BAD_TYPE, {"ids is uint64"}},
      {"table of int32", [](s& x) { x.table.dl.dtype = int32; }, TK_BAD_TYPE, {"table is int32"}},
      {"rows of y overlap",
       [](s& x) { x.y.strides[1] = 19; },
       TK_BAD_OVERLAP,
       {"y", "[2, 3, 20]", "[60, 19, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its output") { check_scene<embedding>(); }

TEST_CASE("refusals") {
  check_refusals<embedding>(3, {{64, 128}, {16, 64}, {16, 64, 128}}, {},
                            [] { try_all(problems()); });
}
