// SPDX-License-Identifier: MIT
// What tk_hedgehog_backward refuses, and how it says so.
#include "tests/ops/hedgehog/backward_scene.hpp"

namespace {

using namespace scene;
using s = hedgehog_backward;
using p = packed_scene<hedgehog_backward>;

std::vector<spoiled<s>> wrong_inputs() {
  return {
      {"k h", sized<s>(&s::k, 2, 1), TK_BAD_SHAPE, {"k has h = 1", "q", "2"}},
      {"v nk", sized<s>(&s::v, 1, 6), TK_BAD_SHAPE, {"v has nk = 6", "k", "5"}},
      {"o nq", sized<s>(&s::o, 1, 5), TK_BAD_SHAPE, {"o has nq = 5", "q", "3"}},
      {"dout h", sized<s>(&s::dout, 2, 3), TK_BAD_SHAPE, {"dout has h = 3", "q", "2"}},
      {"dout type", [](s& x) { x.dout.dl.dtype = fp16; }, TK_BAD_TYPE, {"dout is fp16", "bf16"}},
      {"normaliser nq", sized<s>(&s::normaliser, 2, 5), TK_BAD_SHAPE, {"normaliser has nq = 5"}},
      {"d 64",
       [](s& x) {
         for (auto* t : {&x.q, &x.k, &x.v}) t->shape[3] = 64;
       },
       TK_UNSUPPORTED,
       {"q has d = 64", "128"}},
      {"map_k features", sized<s>(&s::map_k, 2, 32), TK_UNSUPPORTED, {"map_k has features = 32"}},
      {"alpha h", sized<s>(&s::alpha, 0, 1), TK_BAD_SHAPE, {"alpha has h = 1", "2"}},
      {"dfinal_kv b", sized<s>(&s::dfinal_kv, 0, 3), TK_BAD_SHAPE, {"dfinal_kv has b = 3", "2"}},
      {"dfinal_k d", sized<s>(&s::dfinal_k, 2, 64), TK_BAD_SHAPE, {"dfinal_k has d = 64"}},
      {"scale 0", [](s& x) { x.problem.scale = 0; }, TK_BAD_VALUE, {"scale is 0", "2^-64"}},
      {"reserved2", [](s& x) { x.problem.reserved2 = 1; }, TK_BAD_STRUCT, {"reserved2 is 1"}},
      {"lengths b", sized<s>(&s::lengths, 0, 3), TK_BAD_SHAPE, {"lengths has b = 3", "2"}},
  };
}
std::vector<spoiled<s>> wrong_gradients() {
  return {
      {"dq nq", sized<s>(&s::dq, 1, 5), TK_BAD_SHAPE, {"dq has nq = 5", "q", "3"}},
      {"dq type", [](s& x) { x.dq.dl.dtype = fp16; }, TK_BAD_TYPE, {"dq is fp16", "q is bf16"}},
      {"dk nk", sized<s>(&s::dk, 1, 3), TK_BAD_SHAPE, {"dk has nk = 3", "k", "5"}},
      {"dv h", sized<s>(&s::dv, 2, 1), TK_BAD_SHAPE, {"dv has h = 1", "v", "2"}},
      {"dmap_q d", sized<s>(&s::dmap_q, 1, 64), TK_BAD_SHAPE, {"dmap_q has d = 64", "128"}},
      {"bf16 dmap_k", [](s& x) { x.dmap_k.dl.dtype = bf16; }, TK_BAD_TYPE, {"dmap_k", "fp32"}},
      {"dalpha h", sized<s>(&s::dalpha, 0, 3), TK_BAD_SHAPE, {"dalpha has h = 3", "2"}},
      {"dbeta h", sized<s>(&s::dbeta, 0, 1), TK_BAD_SHAPE, {"dbeta has h = 1", "2"}},
      {"dinitial_kv h",
       sized<s>(&s::dinitial_kv, 1, 1),
       TK_BAD_SHAPE,
       {"dinitial_kv has h = 1", "2"}},
      {"dinitial_k b", sized<s>(&s::dinitial_k, 0, 1), TK_BAD_SHAPE, {"dinitial_k has b = 1"}},
      {"heads of dk in one place",
       [](s& x) { x.dk.strides[2] = 0; },
       TK_BAD_OVERLAP,
       {"dk", "[2, 5, 2, 128]", "[1280, 256, 0, 1]"}},
  };
}
std::vector<spoiled<p>> wrong_sequences() {
  return {
      {"total of dv", [](p& x) { x.dv.shape[0] = 9; }, TK_BAD_SHAPE, {"dv has total_k = 9", "10"}},
      {"more key_starts",
       [](p& x) { x.key_starts.shape[0] = 4; },
       TK_BAD_SHAPE,
       {"key_starts has b + 1 = 4", "3"}},
      {"lengths of packed sequences",
       [](p& x) { x.lengths.given = &x.lengths.dl; },
       TK_BAD_VALUE,
       {"lengths and starts", "NULL"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  check_scene<s>();
  check_scene<p>();
}

TEST_CASE("refusals") {
  std::vector<std::int64_t> const tokens{1, 1000, 1, 128}, map{1, 128, 64}, state{1, 1, 128, 128},
      sums{1, 1, 128}, of_queries{1, 1, 1000}, one{1};
  try_faults<p>(faults(), 1);
  check_refusals<s>(
      3, {tokens, tokens, tokens, tokens, tokens, of_queries, map, map, one, one, state, sums,
          state,  sums,   one,    tokens, tokens, tokens,     map, map, one, one, state, sums},
      {TK_UNSUPPORTED}, [] {
        try_all(wrong_inputs());
        try_all(wrong_gradients());
        try_all(wrong_sequences());
        try_overlaps<p>();
      });
}
