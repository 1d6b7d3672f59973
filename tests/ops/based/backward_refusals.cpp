// SPDX-License-Identifier: MIT
// What can be wrong with a problem of the backward that cannot be with one of the forward, and what
// both share: shapes, types, values and overlaps, each with the status and the parts of the
// sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/based/backward_scene.hpp"

namespace {

using namespace scene;
using s = scene::based_backward;
using p = packed_scene<s>;

template <class Scene> struct without_normaliser : Scene {
  without_normaliser() { Scene::without_normaliser(); }
};

std::vector<spoiled<s>> wrong_shapes() {
  return {
      {"k n", sized<s>(&s::k, 1, 4), TK_BAD_SHAPE, {"k has n = 4", "q", "5"}},
      {"v h", sized<s>(&s::v, 2, 1), TK_BAD_SHAPE, {"v has h = 1", "q", "2"}},
      {"d 32", sized<s>(&s::q, 3, 32), TK_UNSUPPORTED, {"q has d = 32", "must be 16"}},
      {"dv 24", sized<s>(&s::v, 3, 24), TK_UNSUPPORTED, {"v has dv = 24", "16"}},
      {"dout n", sized<s>(&s::dout, 1, 4), TK_BAD_SHAPE, {"dout has n = 4", "v", "5"}},
      {"dout dv", sized<s>(&s::dout, 3, 32), TK_BAD_SHAPE, {"dout has dv = 32", "v", "16"}},
      {"dq b", sized<s>(&s::dq, 0, 1), TK_BAD_SHAPE, {"dq has b = 1", "q", "2"}},
      {"dk d", sized<s>(&s::dk, 3, 32), TK_BAD_SHAPE, {"dk has d = 32", "k", "16"}},
      {"dv h", sized<s>(&s::dv, 2, 3), TK_BAD_SHAPE, {"dv has h = 3", "v", "2"}},
      {"initial moments",
       sized<s>(&s::initial_state, 2, 16),
       TK_BAD_SHAPE,
       {"initial_state has moments = 16", "153"}},
      {"dfinal b", sized<s>(&s::dfinal_state, 0, 3), TK_BAD_SHAPE, {"dfinal_state has b = 3"}},
      {"dinitial dv",
       sized<s>(&s::dinitial_state, 3, 32),
       TK_BAD_SHAPE,
       {"dinitial_state has dv = 32", "16"}},
      {"dfinal sums h",
       sized<s>(&s::dfinal_sums, 1, 1),
       TK_BAD_SHAPE,
       {"dfinal_sums has h = 1", "2"}},
      {"dinitial sums",
       sized<s>(&s::dinitial_sums, 2, 136),
       TK_BAD_SHAPE,
       {"dinitial_sums has moments = 136", "153"}},
  };
}

std::vector<spoiled<s>> wrong_values() {
  return {
      {"dout of rank 3",
       [](s& x) { x.dout.dl.ndim = 3; },
       TK_BAD_RANK,
       {"dout has 3 dimensions", "4"}},
      {"types", [](s& x) { x.dout.dl.dtype = fp16; }, TK_BAD_TYPE, {"dout is fp16", "v is bf16"}},
      {"dq fp16", [](s& x) { x.dq.dl.dtype = fp16; }, TK_BAD_TYPE, {"dq is fp16", "q is bf16"}},
      {"bf16 state",
       [](s& x) { x.dfinal_state.dl.dtype = bf16; },
       TK_BAD_TYPE,
       {"dfinal_state", "fp32"}},
      {"scale 0", [](s& x) { x.problem.scale = 0; }, TK_BAD_VALUE, {"scale is 0", "2^-32"}},
      {"normalise", [](s& x) { x.problem.normalise = -1; }, TK_BAD_VALUE, {"normalise is -1"}},
      {"sums without the normaliser",
       [](s& x) { x.problem.normalise = 0; },
       TK_BAD_VALUE,
       {"initial_sums is given", "normalise is 0"}},
      {"gradients of sums without the normaliser",
       [](s& x) {
         x.without_normaliser();
         x.dinitial_sums.given = &x.dinitial_sums.dl;
       },
       TK_BAD_VALUE,
       {"dinitial_sums is given", "normalise is 0"}},
      {"repeat",
       [](s& x) { x.problem.repeat = as<tk_repeat>(2); },
       TK_BAD_VALUE,
       {"repeat is 2", "TK_REPEAT_RUN or TK_REPEAT_ROW"}},
      {"heads of dv in one place",
       [](s& x) { x.dv.strides[2] = 0; },
       TK_BAD_OVERLAP,
       {"dv", "[2, 5, 2, 16]", "[160, 32, 0, 1]"}},
  };
}

std::vector<spoiled<p>> wrong_sequences() {
  return {
      {"total", [](p& x) { x.dout.shape[0] = 9; }, TK_BAD_SHAPE, {"dout has total = 9", "10"}},
      {"no starts", [](p& x) { x.starts.given = nullptr; }, TK_BAD_RANK, {"q has 3", "4"}},
      {"sequences without a state",
       [](p& x) { x.starts.shape[0] = 4; },
       TK_BAD_SHAPE,
       {"initial_state has b = 2", "3"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  check_scene<s>();
  check_scene<without_normaliser<s>>();
  check_scene<p>();
}

TEST_CASE("refusals") {
  std::vector<std::int64_t> const narrow{2, 8192, 16, 16}, tokens{2, 8192, 16, 64},
      state{2, 16, moments, 64}, sums{2, 16, moments};
  try_faults<without_normaliser<s>>(faults(), 1);
  try_faults<p>(faults(), 1);
  check_refusals<s>(3,
                    {narrow, narrow, tokens, state, sums, tokens, narrow, narrow, tokens, state,
                     state, sums, sums},
                    {TK_UNSUPPORTED}, [] {
                      try_all(wrong_shapes());
                      try_all(wrong_values());
                      try_all(wrong_sequences());
                      try_overlaps<p>();
                    });
}
