// SPDX-License-Identifier: MIT
// What can be wrong with a problem: shapes, types, values and overlaps, each with the status and
// the parts of the sentence that a caller must get.
#include "tests/support/refusals.hpp"

#include "tests/ops/attention/backward_scene.hpp"

namespace {

using namespace scene;
using s = attention_backward;

// No two sizes of a scene are alike along an axis, so each tensor's axes have a fault of their own.
std::vector<spoiled<s>> wrong_shapes() {
  return {
      {"batch", [](s& x) { x.k.shape[0] = 1; }, TK_BAD_SHAPE, {"k has b = 1", "q", "2"}},
      {"batch of dv", [](s& x) { x.dv.shape[0] = 1; }, TK_BAD_SHAPE, {"dv has b = 1", "q", "2"}},
      {"keys", [](s& x) { x.v.shape[1] = 6; }, TK_BAD_SHAPE, {"v has nk = 6", "k", "7"}},
      {"key heads", [](s& x) { x.v.shape[2] = 1; }, TK_BAD_SHAPE, {"v has hk = 1", "k", "2"}},
      {"d", [](s& x) { x.k.shape[3] = 8; }, TK_BAD_SHAPE, {"k has d = 8", "q", "16"}},
      {"dv", [](s& x) { x.o.shape[3] = 16; }, TK_BAD_SHAPE, {"o has dv = 16", "v", "24"}},
      {"queries", [](s& x) { x.o.shape[1] = 4; }, TK_BAD_SHAPE, {"o has nq = 4", "q", "5"}},
      {"heads", [](s& x) { x.o.shape[2] = 3; }, TK_BAD_SHAPE, {"o has hq = 3", "q", "4"}},
      {"dout nq", [](s& x) { x.dout.shape[1] = 4; }, TK_BAD_SHAPE, {"dout has nq = 4", "o", "5"}},
      {"dout hq", [](s& x) { x.dout.shape[2] = 3; }, TK_BAD_SHAPE, {"dout has hq = 3", "o", "4"}},
      {"dout dv", [](s& x) { x.dout.shape[3] = 8; }, TK_BAD_SHAPE, {"dout has dv = 8", "o", "24"}},
      {"dq nq", [](s& x) { x.dq.shape[1] = 4; }, TK_BAD_SHAPE, {"dq has nq = 4", "q", "5"}},
      {"dq hq", [](s& x) { x.dq.shape[2] = 3; }, TK_BAD_SHAPE, {"dq has hq = 3", "q", "4"}},
      {"dq d", [](s& x) { x.dq.shape[3] = 8; }, TK_BAD_SHAPE, {"dq has d = 8", "q", "16"}},
      {"dk nk", [](s& x) { x.dk.shape[1] = 4; }, TK_BAD_SHAPE, {"dk has nk = 4", "k", "7"}},
      {"dk hk", [](s& x) { x.dk.shape[2] = 4; }, TK_BAD_SHAPE, {"dk has hk = 4", "k", "2"}},
      {"dk d", [](s& x) { x.dk.shape[3] = 8; }, TK_BAD_SHAPE, {"dk has d = 8", "k", "16"}},
      {"dv nk", [](s& x) { x.dv.shape[1] = 8; }, TK_BAD_SHAPE, {"dv has nk = 8", "v", "7"}},
      {"dv hk", [](s& x) { x.dv.shape[2] = 4; }, TK_BAD_SHAPE, {"dv has hk = 4", "v", "2"}},
      {"dv dv", [](s& x) { x.dv.shape[3] = 16; }, TK_BAD_SHAPE, {"dv has dv = 16", "v", "24"}},
      {"groups",
       [](s& x) { x.k.shape[2] = x.v.shape[2] = x.dk.shape[2] = x.dv.shape[2] = 3; },
       TK_BAD_SHAPE,
       {"hq = 4", "hk = 3"}},
      {"no key heads",
       [](s& x) { x.k.shape[2] = x.v.shape[2] = x.dk.shape[2] = x.dv.shape[2] = 0; },
       TK_BAD_SHAPE,
       {"hq = 4", "hk = 0"}},
      {"lse b", [](s& x) { x.lse.shape[0] = 3; }, TK_BAD_SHAPE, {"lse has b = 3", "q", "2"}},
      {"lse hq", [](s& x) { x.lse.shape[1] = 2; }, TK_BAD_SHAPE, {"lse has hq = 2", "q", "4"}},
      {"lse nq", [](s& x) { x.lse.shape[2] = 7; }, TK_BAD_SHAPE, {"lse has nq = 7", "q", "5"}},
      {"d 12",
       [](s& x) { x.q.shape[3] = x.k.shape[3] = x.dq.shape[3] = x.dk.shape[3] = 12; },
       TK_UNSUPPORTED,
       {"q has d = 12", "8"}},
      {"d 264",
       [](s& x) { x.q.shape[3] = x.k.shape[3] = x.dq.shape[3] = x.dk.shape[3] = 264; },
       TK_UNSUPPORTED,
       {"264", "256"}},
      {"dv 4",
       [](s& x) {
         x.v.shape[3] = x.o.shape[3] = x.dout.shape[3] = x.dv.shape[3] = 4;
         x.v.dl.strides = x.o.dl.strides = x.dout.dl.strides = x.dv.dl.strides = nullptr;
       },
       TK_UNSUPPORTED,
       {"v has dv = 4"}},
  };
}

std::vector<spoiled<s>> wrong_values() {
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"heads of dk in one place",
       [](s& x) { x.dk.strides[2] = 0; },
       TK_BAD_OVERLAP,
       {"dk", "[2, 7, 2, 16]", "[224, 32, 0, 1]"}},
      {"rank 3", [](s& x) { x.dv.dl.ndim = 3; }, TK_BAD_RANK, {"dv has 3 dimensions", "4"}},
      {"types", [](s& x) { x.v.dl.dtype = fp16; }, TK_BAD_TYPE, {"v is fp16", "q is bf16"}},
      {"dk's type", [](s& x) { x.dk.dl.dtype = fp16; }, TK_BAD_TYPE, {"dk is fp16", "q is bf16"}},
      {"bf16 lse", [](s& x) { x.lse.dl.dtype = bf16; }, TK_BAD_TYPE, {"lse", "fp32"}},
      {"fp32 dq", [](s& x) { x.dq.dl.dtype = fp32; }, TK_BAD_TYPE, {"dq", "bf16 or fp16"}},
      {"mask",
       [](s& x) { x.problem.mask = as<tk_mask>(2); },
       TK_BAD_VALUE,
       {"mask is 2", "TK_MASK_NONE or TK_MASK_CAUSAL"}},
      {"scale nan", [](s& x) { x.problem.scale = inf - inf; }, TK_BAD_VALUE, {"scale is", "nan"}},
      {"scale inf", [](s& x) { x.problem.scale = -inf; }, TK_BAD_VALUE, {"scale is -inf"}},
      {"scale 2^126", [](s& x) { x.problem.scale = -0x1p126f; }, TK_UNSUPPORTED, {"scale is -85"}},
  };
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its output") { check_scene<s>(); }

TEST_CASE("refusals") {
  std::vector<std::int64_t> const heads{2, 8192, 16, 64};
  check_refusals<s>(3, {heads, heads, heads, heads, {2, 16, 8192}, heads, heads, heads, heads},
                    {TK_UNSUPPORTED, TK_SMALL_WORKSPACE}, [] {
                      try_all(wrong_shapes());
                      try_all(wrong_values());
                    });
}
