// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/topk/scene.hpp"

namespace {

using namespace scene;

// Tensors of [2, 3, ...] at addresses that nobody follows.
void lengthen(topk& x, std::int64_t width, std::int64_t k) {
  enlarge(x, {{2, 3, width}, {2, 3, k}, {2, 3, k}});
}

std::vector<spoiled<topk>> problems() {
  using s = topk;
  auto const set = [](tensor s::* t, std::size_t axis, std::int64_t size) {
    return [=](s& x) { (x.*t).shape[axis] = size; };
  };
  return {
      {"h of values", set(&s::values, 0, 1), TK_BAD_SHAPE, {"values has h = 1", "2"}},
      {"rows of values", set(&s::values, 1, 4), TK_BAD_SHAPE, {"values has rows = 4", "3"}},
      {"h of indices", set(&s::indices, 0, 3), TK_BAD_SHAPE, {"indices has h = 3", "2"}},
      {"rows of indices", set(&s::indices, 1, 1), TK_BAD_SHAPE, {"indices has rows = 1", "3"}},
      {"k of both", set(&s::indices, 2, 3), TK_BAD_SHAPE, {"indices has k = 3", "values", "4"}},
      {"k above the width",
       set(&s::x, 2, 3),
       TK_BAD_SHAPE,
       {"values has k = 4", "width of x, 3", "at most"}},
      {"k of indices above the width",
       [](s& x) {
         x.values.given = nullptr;
         x.indices.shape[2] = 21;
       },
       TK_BAD_SHAPE,
       {"indices has k = 21", "width of x, 20"}},
      {"k above the limit",
       [](s& x) { lengthen(x, 5000, 1025); },
       TK_UNSUPPORTED,
       {"k = 1025", "1024"}},
      {"x of rank 4", [](s& x) { x.x.dl.ndim = 4; }, TK_BAD_RANK, {"values has 3", "x has 4"}},
      {"values of rank 4",
       [](s& x) { x.values.dl.ndim = 4; },
       TK_BAD_RANK,
       {"values has 4 dimensions", "x has 3"}},
      {"indices of rank 2",
       [](s& x) {
         x.indices.dl.ndim = 2;
         x.indices.dl.strides = nullptr;
       },
       TK_BAD_RANK,
       {"indices has 2 dimensions", "x has 3"}},
      {"values, x",
       [](s& x) { x.values.dl.dtype = bf16; },
       TK_BAD_TYPE,
       {"values is bf16", "x is fp32"}},
      {"x of integers", [](s& x) { x.x.dl.dtype = int32; }, TK_BAD_TYPE, {"x is int32"}},
      {"indices of numbers",
       [](s& x) { x.indices.dl.dtype = fp32; },
       TK_BAD_TYPE,
       {"indices is fp32", "int32 or int64"}},
      {"unsigned indices",
       [](s& x) { x.indices.dl.dtype = uint64; },
       TK_BAD_TYPE,
       {"indices is uint64"}},
      {"no result",
       [](s& x) { x.values.given = x.indices.given = nullptr; },
       TK_NULL_POINTER,
       {"values and indices", "NULL"}},
      {"smallest 2",
       [](s& x) { x.problem.smallest = 2; },
       TK_BAD_VALUE,
       {"smallest is 2", "0 or 1"}},
      {"reserved2", [](s& x) { x.problem.reserved2 = 3; }, TK_BAD_STRUCT, {"reserved2 is 3"}},
      {"rows of values overlap",
       [](s& x) { x.values.strides[1] = 3; },
       TK_BAD_OVERLAP,
       {"values", "[2, 3, 4]", "[12, 3, 1]"}},
      {"matrices of indices in one place",
       [](s& x) { x.indices.strides[0] = 0; },
       TK_BAD_OVERLAP,
       {"indices", "[0, 4, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its outputs") { check_scene<topk>(); }

TEST_CASE("refusals") {
  check_refusals<topk>(2, {{16, 64, 128}, {16, 64, 50}, {16, 64, 50}}, {TK_UNSUPPORTED},
                       [] { try_all(problems()); });
}
