// SPDX-License-Identifier: MIT
// What can be wrong with a problem of the backward: shapes, types, values and overlaps, each with
// the status and the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/conv1d/backward_scene.hpp"
#include "tests/ops/conv1d/faults.hpp"

namespace {

using namespace scene;
using s = conv1d_backward;

std::vector<spoiled<s>> problems() {
  auto const shape = [](tensor s::* t, std::size_t axis, std::int64_t size) {
    return [=](s& x) { (x.*t).shape[axis] = size; };
  };
  auto const type = [](tensor s::* t, DLDataType type) {
    return [=](s& x) { (x.*t).dl.dtype = type; };
  };
  return {
      {"n of dy", shape(&s::dy, 1, 4), TK_BAD_SHAPE, {"dy has n = 4", "3"}},
      {"b of dx", shape(&s::dx, 0, 1), TK_BAD_SHAPE, {"dx has b = 1", "2"}},
      {"c of dx", shape(&s::dx, 2, 19), TK_BAD_SHAPE, {"dx has c = 19", "20"}},
      {"c of dweight", shape(&s::dweight, 0, 19), TK_BAD_SHAPE, {"dweight has c = 19", "20"}},
      {"w of dweight",
       [](s& x) { x.dweight.shape[1] = x.dweight.strides[0] = 3; },
       TK_BAD_SHAPE,
       {"dweight has w = 3", "weight", "4"}},
      {"dweight with gaps",
       [](s& x) { x.dweight.strides[0] = 6; },
       TK_BAD_STRIDE,
       {"dweight has stride 6", "w = 4"}},
      {"c of dbias", shape(&s::dbias, 0, 21), TK_BAD_SHAPE, {"dbias has c = 21", "20"}},
      {"dfinal_state", shape(&s::dfinal, 1, 2), TK_BAD_SHAPE, {"dfinal_state has w - 1 = 2", "3"}},
      {"dinitial_state",
       shape(&s::dinitial, 0, 3),
       TK_BAD_SHAPE,
       {"dinitial_state has sequences = 3", "2"}},
      {"dy, x", type(&s::dy, bf16), TK_BAD_TYPE, {"dy is bf16", "x is fp32"}},
      {"dx, x", type(&s::dx, fp16), TK_BAD_TYPE, {"dx is fp16", "x is fp32"}},
      {"dfinal_state, x", type(&s::dfinal, fp16), TK_BAD_TYPE, {"dfinal_state is fp16"}},
      {"dinitial_state, x", type(&s::dinitial, bf16), TK_BAD_TYPE, {"dinitial_state is bf16"}},
      {"dweight, x", type(&s::dweight, bf16), TK_BAD_TYPE, {"dweight is bf16", "x is fp32"}},
      {"dbias, dweight",
       [](s& x) {
         for (auto* t : x.typed()) t->dl.dtype = bf16;
         x.dbias.dl.dtype = bf16;
       },
       TK_BAD_TYPE,
       {"dbias is bf16", "dweight is fp32"}},
      {"tokens of dx overlap",
       [](s& x) { x.dx.strides[1] = 19; },
       TK_BAD_OVERLAP,
       {"dx", "[2, 3, 20]", "[60, 19, 1]"}},
      {"tokens of dinitial_state overlap",
       [](s& x) { x.dinitial.strides[0] = 40; },
       TK_BAD_OVERLAP,
       {"dinitial_state", "[2, 3, 20]", "[40, 20, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  check_scene<conv1d_backward>();
  check_scene<conv1d_backward_packed>();
}

TEST_CASE("refusals") {
  std::vector<std::int64_t> const x{4, 4096, 1024}, state{4, 3, 1024}, weight{1024, 4}, bias{1024};
  try_faults<conv1d_backward_packed>(faults(), 1);
  check_refusals<s>(3, {x, weight, bias, x, state, state, x, weight, bias, state}, {TK_UNSUPPORTED},
                    [] {
                      try_all(operand_faults<s>());
                      try_all(problems());
                      using p = conv1d_backward_packed;
                      try_all(packed_faults<p>());
                      try_overlaps<p>();
                    });
}
