// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/based/scene.hpp"

namespace {

using namespace scene;
using s = scene::based;
using p = packed_scene<s>;

std::vector<spoiled<s>> wrong_shapes() {
  return {
      {"k b", sized<s>(&s::k, 0, 1), TK_BAD_SHAPE, {"k has b = 1", "q", "2"}},
      {"k n", sized<s>(&s::k, 1, 4), TK_BAD_SHAPE, {"k has n = 4", "q", "5"}},
      {"k h", sized<s>(&s::k, 2, 1), TK_BAD_SHAPE, {"k has h = 1", "q", "2"}},
      {"k d", sized<s>(&s::k, 3, 32), TK_BAD_SHAPE, {"k has d = 32", "q", "16"}},
      {"v b", sized<s>(&s::v, 0, 3), TK_BAD_SHAPE, {"v has b = 3", "q", "2"}},
      {"v n", sized<s>(&s::v, 1, 6), TK_BAD_SHAPE, {"v has n = 6", "q", "5"}},
      {"v h", sized<s>(&s::v, 2, 1), TK_BAD_SHAPE, {"v has h = 1", "q", "2"}},
      {"d 32", sized<s>(&s::q, 3, 32), TK_UNSUPPORTED, {"q has d = 32", "must be 16"}},
      {"d 0", sized<s>(&s::q, 3, 0), TK_UNSUPPORTED, {"q has d = 0", "must be 16"}},
      {"dv 8", sized<s>(&s::v, 3, 8), TK_UNSUPPORTED, {"v has dv = 8", "16"}},
      {"dv 272", sized<s>(&s::v, 3, 272), TK_UNSUPPORTED, {"v has dv = 272", "256"}},
      {"o n", sized<s>(&s::o, 1, 4), TK_BAD_SHAPE, {"o has n = 4", "v", "5"}},
      {"o dv", sized<s>(&s::o, 3, 32), TK_BAD_SHAPE, {"o has dv = 32", "v", "16"}},
      {"state b", sized<s>(&s::initial_state, 0, 1), TK_BAD_SHAPE, {"initial_state has b = 1"}},
      {"state h", sized<s>(&s::initial_state, 1, 3), TK_BAD_SHAPE, {"initial_state has h = 3"}},
      {"state moments",
       sized<s>(&s::initial_state, 2, 152),
       TK_BAD_SHAPE,
       {"initial_state has moments = 152", "153"}},
      {"state dv", sized<s>(&s::initial_state, 3, 8), TK_BAD_SHAPE, {"initial_state has dv = 8"}},
      {"final b", sized<s>(&s::final_state, 0, 3), TK_BAD_SHAPE, {"final_state has b = 3", "2"}},
      {"final moments",
       sized<s>(&s::final_state, 2, 154),
       TK_BAD_SHAPE,
       {"final_state has moments = 154", "153"}},
      {"sums b", sized<s>(&s::initial_sums, 0, 1), TK_BAD_SHAPE, {"initial_sums has b = 1", "2"}},
      {"sums h", sized<s>(&s::final_sums, 1, 1), TK_BAD_SHAPE, {"final_sums has h = 1", "2"}},
      {"sums moments",
       sized<s>(&s::final_sums, 2, 136),
       TK_BAD_SHAPE,
       {"final_sums has moments = 136", "153"}},
  };
}

std::vector<spoiled<s>> wrong_values() {
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"q of rank 3", [](s& x) { x.q.dl.ndim = 3; }, TK_BAD_RANK, {"q has 3 dimensions", "4"}},
      {"sums of rank 4",
       [](s& x) { x.initial_sums.dl.ndim = 4; },
       TK_BAD_RANK,
       {"initial_sums has 4 dimensions", "3"}},
      {"types", [](s& x) { x.v.dl.dtype = fp16; }, TK_BAD_TYPE, {"v is fp16", "q is bf16"}},
      {"o fp16", [](s& x) { x.o.dl.dtype = fp16; }, TK_BAD_TYPE, {"o is fp16", "v is bf16"}},
      {"fp32 k", [](s& x) { x.k.dl.dtype = fp32; }, TK_BAD_TYPE, {"k", "bf16 or fp16"}},
      {"bf16 state",
       [](s& x) { x.final_state.dl.dtype = bf16; },
       TK_BAD_TYPE,
       {"final_state", "fp32"}},
      {"fp16 sums",
       [](s& x) { x.initial_sums.dl.dtype = fp16; },
       TK_BAD_TYPE,
       {"initial_sums", "fp32"}},
      {"scale nan", [](s& x) { x.problem.scale = inf - inf; }, TK_BAD_VALUE, {"scale is", "nan"}},
      {"scale inf", [](s& x) { x.problem.scale = -inf; }, TK_BAD_VALUE, {"scale is -inf"}},
      {"scale 0", [](s& x) { x.problem.scale = 0; }, TK_BAD_VALUE, {"scale is 0", "2^-32"}},
      {"scale 2^33", [](s& x) { x.problem.scale = 0x1p33f; }, TK_BAD_VALUE, {"scale", "2^32"}},
      {"normalise",
       [](s& x) { x.problem.normalise = 2; },
       TK_BAD_VALUE,
       {"normalise is 2", "0 or 1"}},
      {"initial sums without the normaliser",
       [](s& x) { x.problem.normalise = 0; },
       TK_BAD_VALUE,
       {"initial_sums is given", "normalise is 0"}},
      {"final sums without the normaliser",
       [](s& x) { x.problem.normalise = 0, x.initial_sums.given = nullptr; },
       TK_BAD_VALUE,
       {"final_sums is given", "normalise is 0"}},
      {"repeat",
       [](s& x) { x.problem.repeat = as<tk_repeat>(2); },
       TK_BAD_VALUE,
       {"repeat is 2", "TK_REPEAT_RUN or TK_REPEAT_ROW"}},
      {"heads of o in one place",
       [](s& x) { x.o.strides[2] = 0; },
       TK_BAD_OVERLAP,
       {"o", "[2, 5, 2, 16]", "[160, 32, 0, 1]"}},
  };
}

std::vector<spoiled<p>> wrong_sequences() {
  return {
      {"total", [](p& x) { x.k.shape[0] = 9; }, TK_BAD_SHAPE, {"k has total = 9", "10"}},
      {"no starts", [](p& x) { x.starts.given = nullptr; }, TK_BAD_RANK, {"q has 3", "4"}},
      {"b + 1 = 0",
       [](p& x) { x.starts.shape[0] = 0; },
       TK_BAD_SHAPE,
       {"starts has b + 1 = 0", "1 or more"}},
      {"sequences without a state",
       [](p& x) { x.starts.shape[0] = 4; },
       TK_BAD_SHAPE,
       {"initial_state has b = 2", "3"}},
      {"sequences without sums",
       [](p& x) { x.initial_state.given = x.final_state.given = nullptr, x.starts.shape[0] = 4; },
       TK_BAD_SHAPE,
       {"initial_sums has b = 2", "3"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  check_scene<s>();
  check_scene<plain<s>>();
  check_scene<p>();
}

TEST_CASE("refusals") {
  std::vector<std::int64_t> const narrow{2, 8192, 16, 16}, tokens{2, 8192, 16, 64},
      state{2, 16, moments, 64}, sums{2, 16, moments};
  try_faults<plain<s>>(faults(), 1);
  try_faults<p>(faults(), 1);
  check_refusals<s>(3, {narrow, narrow, tokens, state, sums, tokens, state, sums}, {TK_UNSUPPORTED},
                    [] {
                      try_all(wrong_shapes());
                      try_all(wrong_values());
                      try_all(wrong_sequences());
                      try_overlaps<p>();
                    });
}
