// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/ops/linear_attention/refusal_cases.hpp"

namespace {

using namespace scene;
using s = linear_attention;

std::vector<spoiled<s>> own_problems() {
  return {
      {"o b", sized<s>(&s::o, 0, 1), TK_BAD_SHAPE, {"o has b = 1", "v", "2"}},
      {"o n", sized<s>(&s::o, 1, 4), TK_BAD_SHAPE, {"o has n = 4", "v", "5"}},
      {"o h", sized<s>(&s::o, 2, 3), TK_BAD_SHAPE, {"o has h = 3", "v", "2"}},
      {"o dv", sized<s>(&s::o, 3, 16), TK_BAD_SHAPE, {"o has dv = 16", "v", "32"}},
      {"o fp16", [](s& x) { x.o.dl.dtype = fp16; }, TK_BAD_TYPE, {"o is fp16", "v is bf16"}},
      {"final b", sized<s>(&s::final_state, 0, 3), TK_BAD_SHAPE, {"final_state has b = 3", "2"}},
      {"final h", sized<s>(&s::final_state, 1, 1), TK_BAD_SHAPE, {"final_state has h = 1", "2"}},
      {"final d", sized<s>(&s::final_state, 2, 8), TK_BAD_SHAPE, {"final_state has d = 8", "16"}},
      {"final dv", sized<s>(&s::final_state, 3, 8), TK_BAD_SHAPE, {"final_state has dv = 8", "32"}},
      {"final state on the initial one, permuted",
       [](s& x) {
         x.final_state.dl.data = x.initial_state.dl.data;
         std::swap(x.final_state.strides[0], x.final_state.strides[1]);
       },
       TK_BAD_OVERLAP,
       {"final_state at", "initial_state at"},
       launch_only},
      {"heads of o in one place",
       [](s& x) { x.o.strides[2] = 0; },
       TK_BAD_OVERLAP,
       {"o", "[2, 5, 2, 32]", "[320, 64, 0, 1]"}},
      {"heads of the final state overlap",
       [](s& x) { x.final_state.strides[1] = 31; },
       TK_BAD_OVERLAP,
       {"final_state", "[1024, 31, 32, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  check_scene<s>();
  check_scene<by_head<s>>();
  check_scene<packed_scene<s>>();
}

TEST_CASE("refusals") {
  std::vector<std::int64_t> const tokens{2, 8192, 16, 64}, state{2, 16, 64, 64};
  check_all_refusals<s>({tokens, tokens, tokens, {2, 8192, 16}, state, tokens, state},
                        [] { try_all(own_problems()); });
}
