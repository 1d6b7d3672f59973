// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/attention/scene.hpp"

namespace {

using namespace scene;

std::vector<spoiled<attention>> attention_problems() {
  using s = attention;
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"batch", [](s& x) { x.k.shape[0] = 1; }, TK_BAD_SHAPE, {"k has b = 1", "q", "2"}},
      {"batch of o", [](s& x) { x.o.shape[0] = 1; }, TK_BAD_SHAPE, {"o has b = 1", "q", "2"}},
      {"keys", [](s& x) { x.v.shape[1] = 6; }, TK_BAD_SHAPE, {"v has nk = 6", "k", "7"}},
      {"key heads", [](s& x) { x.v.shape[2] = 1; }, TK_BAD_SHAPE, {"v has hk = 1", "k", "2"}},
      {"d", [](s& x) { x.k.shape[3] = 8; }, TK_BAD_SHAPE, {"k has d = 8", "q", "16"}},
      {"dv", [](s& x) { x.o.shape[3] = 16; }, TK_BAD_SHAPE, {"o has dv = 16", "v", "24"}},
      {"queries", [](s& x) { x.o.shape[1] = 4; }, TK_BAD_SHAPE, {"o has nq = 4", "q", "5"}},
      {"query heads", [](s& x) { x.o.shape[2] = 3; }, TK_BAD_SHAPE, {"o has hq = 3", "q", "4"}},
      {"groups", [](s& x) { x.k.shape[2] = x.v.shape[2] = 3; }, TK_BAD_SHAPE, {"hq = 4", "hk = 3"}},
      {"no key heads",
       [](s& x) { x.k.shape[2] = x.v.shape[2] = 0; },
       TK_BAD_SHAPE,
       {"hq = 4", "hk = 0"}},
      {"lse b", [](s& x) { x.lse.shape[0] = 3; }, TK_BAD_SHAPE, {"lse has b = 3", "q", "2"}},
      {"lse hq", [](s& x) { x.lse.shape[1] = 2; }, TK_BAD_SHAPE, {"lse has hq = 2", "q", "4"}},
      {"lse nq", [](s& x) { x.lse.shape[2] = 7; }, TK_BAD_SHAPE, {"lse has nq = 7", "q", "5"}},
      {"rank 3", [](s& x) { x.v.dl.ndim = 3; }, TK_BAD_RANK, {"v has 3 dimensions", "4"}},
      {"types", [](s& x) { x.v.dl.dtype = fp16; }, TK_BAD_TYPE, {"v is fp16", "q is bf16"}},
      {"bf16 lse", [](s& x) { x.lse.dl.dtype = bf16; }, TK_BAD_TYPE, {"lse", "fp32"}},
      {"fp32 o", [](s& x) { x.o.dl.dtype = fp32; }, TK_BAD_TYPE, {"o", "bf16 or fp16"}},
      {"d 12",
       [](s& x) { x.q.shape[3] = x.k.shape[3] = 12; },
       TK_UNSUPPORTED,
       {"q has d = 12", "8"}},
      {"d 0", [](s& x) { x.q.shape[3] = x.k.shape[3] = 0; }, TK_UNSUPPORTED, {"q has d = 0", "8"}},
      {"d 264", [](s& x) { x.q.shape[3] = x.k.shape[3] = 264; }, TK_UNSUPPORTED, {"264", "256"}},
      {"dv 4", [](s& x) { x.v.shape[3] = x.o.shape[3] = 4; }, TK_UNSUPPORTED, {"v has dv = 4"}},
      {"mask",
       [](s& x) { x.problem.mask = as<tk_mask>(2); },
       TK_BAD_VALUE,
       {"mask is 2", "TK_MASK_NONE or TK_MASK_CAUSAL"}},
      {"scale nan", [](s& x) { x.problem.scale = inf - inf; }, TK_BAD_VALUE, {"scale is", "nan"}},
      {"scale inf", [](s& x) { x.problem.scale = -inf; }, TK_BAD_VALUE, {"scale is -inf"}},
      {"heads of o in one place",
       [](s& x) { x.o.strides[2] = 0; },
       TK_BAD_OVERLAP,
       {"o", "[2, 5, 4, 24]", "[480, 96, 0, 1]"}},
      {"heads of lse overlap",
       [](s& x) { x.lse.strides[1] = 4; },
       TK_BAD_OVERLAP,
       {"lse", "[20, 4, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its output") { check_scene<attention>(); }

TEST_CASE("refusals") {
  check_refusals<attention>(
      3,
      {{2, 8192, 16, 64}, {2, 8192, 16, 64}, {2, 8192, 16, 64}, {2, 8192, 16, 64}, {2, 16, 8192}},
      {TK_UNSUPPORTED}, [] { try_all(attention_problems()); });
}
