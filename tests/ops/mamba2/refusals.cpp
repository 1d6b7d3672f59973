// SPDX-License-Identifier: MIT
// What can be wrong with a problem of the forward, each with the status and the parts of the
// sentence that a caller must get.
#include "tests/ops/mamba2/refusal_cases.hpp"

namespace {

using namespace scene;
using s = scene::mamba2;

std::vector<spoiled<s>> own_problems() {
  return {
      {"y h", sized<s>(&s::y, 2, 1), TK_BAD_SHAPE, {"y has h = 1", "x", "2"}},
      {"y p", sized<s>(&s::y, 3, 32), TK_BAD_SHAPE, {"y has p = 32", "x", "16"}},
      {"y type", [](s& x) { x.y.dl.dtype = fp16; }, TK_BAD_TYPE, {"y is fp16", "x is bf16"}},
      {"final s", sized<s>(&s::final_state, 3, 8), TK_BAD_SHAPE, {"final_state has s = 8", "16"}},
      {"heads of y in one place",
       [](s& x) { x.y.strides[2] = 0; },
       TK_BAD_OVERLAP,
       {"y", "[2, 5, 2, 16]", "[160, 32, 0, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  check_scene<s>();
  check_scene<packed_scene<s>>();
}

TEST_CASE("refusals") {
  std::vector<std::int64_t> const tokens{2, 8192, 16, 64}, groups{2, 8192, 1, 64},
      state{2, 16, 64, 64}, steps{2, 8192, 16}, of_heads{16};
  check_mamba2_refusals<s>(
      {tokens, steps, of_heads, groups, groups, of_heads, tokens, of_heads, state, tokens, state},
      [] { try_all(own_problems()); });
}
