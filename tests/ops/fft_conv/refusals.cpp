// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/ops/fft_conv/refusal_cases.hpp"

namespace {

using namespace scene;
using s = fft_conv;

std::vector<spoiled<s>> own_problems() {
  return {
      resized<s>("y", 0, 1, TK_BAD_SHAPE, {"y has b = 1", "u", "2"}),
      resized<s>("y", 1, 3, TK_BAD_SHAPE, {"y has h = 3", "u", "2"}),
      resized<s>("y", 2, 21, TK_BAD_SHAPE, {"y has n = 21", "u", "20"}),
      {"fp16 y", [](s& x) { x.y.dl.dtype = fp16; }, TK_BAD_TYPE, {"y is fp16", "u is bf16"}},
      {"channels of y in one place",
       [](s& x) { x.y.strides[1] = 0; },
       TK_BAD_OVERLAP,
       {"y", "[2, 2, 20]", "[40, 0, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its output") { check_scene<s>(); }

TEST_CASE("refusals") {
  check_all_refusals<s>([] { try_all(own_problems()); });
}
