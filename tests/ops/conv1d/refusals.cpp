// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/conv1d/faults.hpp"
#include "tests/ops/conv1d/scene.hpp"

namespace {

using namespace scene;
using s = conv1d;

std::vector<spoiled<s>> problems() {
  return {
      {"n of y", [](s& x) { x.y.shape[1] = 4; }, TK_BAD_SHAPE, {"y has n = 4", "3"}},
      {"b of y", [](s& x) { x.y.shape[0] = 1; }, TK_BAD_SHAPE, {"y has b = 1", "2"}},
      {"c of y", [](s& x) { x.y.shape[2] = 19; }, TK_BAD_SHAPE, {"y has c = 19", "20"}},
      {"y, x", [](s& x) { x.y.dl.dtype = bf16; }, TK_BAD_TYPE, {"y is bf16", "x is fp32"}},
      {"final_state",
       [](s& x) { x.final.shape[1] = 4; },
       TK_BAD_SHAPE,
       {"final_state has w - 1 = 4", "3"}},
      {"final_state, x",
       [](s& x) { x.final.dl.dtype = fp16; },
       TK_BAD_TYPE,
       {"final_state is fp16", "x is fp32"}},
      {"tokens of y overlap",
       [](s& x) { x.y.strides[1] = 19; },
       TK_BAD_OVERLAP,
       {"y", "[2, 3, 20]", "[60, 19, 1]"}},
      {"tokens of final_state overlap",
       [](s& x) { x.final.strides[0] = 40; },
       TK_BAD_OVERLAP,
       {"final_state", "[2, 3, 20]", "[40, 20, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  check_scene<conv1d>();
  check_scene<conv1d_packed>();
}

TEST_CASE("refusals") {
  std::vector<std::int64_t> const x{4, 4096, 1024}, state{4, 3, 1024};
  try_faults<conv1d_packed>(faults(), 1);
  check_refusals<s>(3, {x, {1024, 4}, {1024}, x, state, state}, {TK_UNSUPPORTED}, [] {
    try_all(operand_faults<s>());
    try_all(problems());
    try_all(packed_faults<conv1d_packed>());
    try_overlaps<conv1d_packed>();
  });
}
