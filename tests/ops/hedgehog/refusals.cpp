// SPDX-License-Identifier: MIT
// What tk_hedgehog refuses, and how it says so.
#include "tests/ops/hedgehog/scene.hpp"

namespace {

using namespace scene;
using s = hedgehog;
using p = packed_scene<hedgehog>;

std::vector<spoiled<s>> wrong_tokens() {
  return {
      {"k b", sized<s>(&s::k, 0, 1), TK_BAD_SHAPE, {"k has b = 1", "q", "2"}},
      {"k h", sized<s>(&s::k, 2, 1), TK_BAD_SHAPE, {"k has h = 1", "q", "2"}},
      {"k d", sized<s>(&s::k, 3, 64), TK_BAD_SHAPE, {"k has d = 64", "q", "128"}},
      {"v b", sized<s>(&s::v, 0, 3), TK_BAD_SHAPE, {"v has b = 3", "q", "2"}},
      {"v nk", sized<s>(&s::v, 1, 6), TK_BAD_SHAPE, {"v has nk = 6", "k", "5"}},
      {"v h", sized<s>(&s::v, 2, 1), TK_BAD_SHAPE, {"v has h = 1", "q", "2"}},
      {"v dv", sized<s>(&s::v, 3, 64), TK_BAD_SHAPE, {"v has dv = 64", "q", "128"}},
      {"o b", sized<s>(&s::o, 0, 1), TK_BAD_SHAPE, {"o has b = 1", "q", "2"}},
      {"o nq", sized<s>(&s::o, 1, 5), TK_BAD_SHAPE, {"o has nq = 5", "q", "3"}},
      {"o h", sized<s>(&s::o, 2, 3), TK_BAD_SHAPE, {"o has h = 3", "q", "2"}},
      {"o dv", sized<s>(&s::o, 3, 16), TK_BAD_SHAPE, {"o has dv = 16", "q", "128"}},
      {"d 64",
       [](s& x) {
         for (auto* t : {&x.q, &x.k, &x.v}) t->shape[3] = 64;
       },
       TK_UNSUPPORTED,
       {"q has d = 64", "128"}},
      {"q of rank 3", [](s& x) { x.q.dl.ndim = 3; }, TK_BAD_RANK, {"q has 3 dimensions", "4"}},
      {"types", [](s& x) { x.v.dl.dtype = fp16; }, TK_BAD_TYPE, {"v is fp16", "q is bf16"}},
      {"type of o", [](s& x) { x.o.dl.dtype = fp16; }, TK_BAD_TYPE, {"o is fp16", "q is bf16"}},
      {"fp32 k", [](s& x) { x.k.dl.dtype = fp32; }, TK_BAD_TYPE, {"k", "bf16 or fp16"}},
  };
}
std::vector<spoiled<s>> wrong_maps() {
  return {
      {"map_q h", sized<s>(&s::map_q, 0, 1), TK_BAD_SHAPE, {"map_q has h = 1", "2"}},
      {"map_q d", sized<s>(&s::map_q, 1, 64), TK_BAD_SHAPE, {"map_q has d = 64", "128"}},
      {"map_q features",
       sized<s>(&s::map_q, 2, 128),
       TK_UNSUPPORTED,
       {"map_q has features = 128", "64"}},
      {"map_k h", sized<s>(&s::map_k, 0, 3), TK_BAD_SHAPE, {"map_k has h = 3", "2"}},
      {"map_k d", sized<s>(&s::map_k, 1, 127), TK_BAD_SHAPE, {"map_k has d = 127", "128"}},
      {"map_k features", sized<s>(&s::map_k, 2, 32), TK_UNSUPPORTED, {"map_k has features = 32"}},
      {"map_k type", [](s& x) { x.map_k.dl.dtype = fp16; }, TK_BAD_TYPE, {"map_k is fp16", "bf16"}},
      {"alpha h", sized<s>(&s::alpha, 0, 1), TK_BAD_SHAPE, {"alpha has h = 1", "2"}},
      {"beta h", sized<s>(&s::beta, 0, 4), TK_BAD_SHAPE, {"beta has h = 4", "2"}},
      {"bf16 alpha", [](s& x) { x.alpha.dl.dtype = bf16; }, TK_BAD_TYPE, {"alpha", "fp32"}},
  };
}
std::vector<spoiled<s>> wrong_states() {
  return {
      {"initial_kv b", sized<s>(&s::initial_kv, 0, 1), TK_BAD_SHAPE, {"initial_kv has b = 1", "2"}},
      {"initial_kv h", sized<s>(&s::initial_kv, 1, 3), TK_BAD_SHAPE, {"initial_kv has h = 3", "2"}},
      {"initial_kv d",
       sized<s>(&s::initial_kv, 2, 64),
       TK_BAD_SHAPE,
       {"initial_kv has d = 64", "128"}},
      {"initial_k b", sized<s>(&s::initial_k, 0, 1), TK_BAD_SHAPE, {"initial_k has b = 1", "2"}},
      {"initial_k h", sized<s>(&s::initial_k, 1, 1), TK_BAD_SHAPE, {"initial_k has h = 1", "2"}},
      {"initial_k d", sized<s>(&s::initial_k, 2, 64), TK_BAD_SHAPE, {"initial_k has d = 64"}},
      {"final_kv b", sized<s>(&s::final_kv, 0, 3), TK_BAD_SHAPE, {"final_kv has b = 3", "2"}},
      {"final_kv dv", sized<s>(&s::final_kv, 3, 8), TK_BAD_SHAPE, {"final_kv has dv = 8", "128"}},
      {"final_k b", sized<s>(&s::final_k, 0, 3), TK_BAD_SHAPE, {"final_k has b = 3", "2"}},
      {"final_k d", sized<s>(&s::final_k, 2, 130), TK_BAD_SHAPE, {"final_k has d = 130", "128"}},
      {"bf16 state", [](s& x) { x.initial_kv.dl.dtype = bf16; }, TK_BAD_TYPE, {"initial_kv"}},
      {"final_k on the initial one, permuted",
       [](s& x) {
         x.final_k.dl.data = x.initial_k.dl.data;
         std::swap(x.final_k.strides[0], x.final_k.strides[1]);
       },
       TK_BAD_OVERLAP,
       {"final_k at", "initial_k at"},
       launch_only},
      {"normaliser b", sized<s>(&s::normaliser, 0, 1), TK_BAD_SHAPE, {"normaliser has b = 1", "2"}},
      {"normaliser h", sized<s>(&s::normaliser, 1, 3), TK_BAD_SHAPE, {"normaliser has h = 3", "2"}},
      {"normaliser nq",
       sized<s>(&s::normaliser, 2, 5),
       TK_BAD_SHAPE,
       {"normaliser has nq = 5", "3"}},
      {"heads of o in one place",
       [](s& x) { x.o.strides[2] = 0; },
       TK_BAD_OVERLAP,
       {"o", "[2, 3, 2, 128]", "[768, 256, 0, 1]"}},
      {"heads of the final state overlap",
       [](s& x) { x.final_kv.strides[1] = 127; },
       TK_BAD_OVERLAP,
       {"final_kv", "[32768, 127, 128, 1]"}},
  };
}
std::vector<spoiled<s>> wrong_values() {
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"scale nan", [](s& x) { x.problem.scale = inf - inf; }, TK_BAD_VALUE, {"scale is", "nan"}},
      {"scale inf", [](s& x) { x.problem.scale = inf; }, TK_BAD_VALUE, {"scale is inf"}},
      {"scale 0", [](s& x) { x.problem.scale = 0; }, TK_BAD_VALUE, {"scale is 0", "2^-64"}},
      {"scale -1", [](s& x) { x.problem.scale = -1; }, TK_BAD_VALUE, {"scale is -1", "2^64"}},
      {"scale 2^65", [](s& x) { x.problem.scale = 0x1p65f; }, TK_BAD_VALUE, {"scale", "2^64"}},
      {"reserved2", [](s& x) { x.problem.reserved2 = 1; }, TK_BAD_STRUCT, {"reserved2 is 1"}},
      {"repeat",
       [](s& x) { x.problem.repeat = as<tk_repeat>(2); },
       TK_BAD_VALUE,
       {"repeat is 2", "TK_REPEAT_RUN or TK_REPEAT_ROW"}},
      {"lengths b", sized<s>(&s::lengths, 0, 3), TK_BAD_SHAPE, {"lengths has b = 3", "2"}},
      {"int64 lengths", [](s& x) { x.lengths.dl.dtype = int64; }, TK_BAD_TYPE, {"lengths"}},
      {"key_starts of a batch",
       [](s& x) { x.key_starts.given = &x.key_starts.dl; },
       TK_NULL_POINTER,
       {"starts is NULL", "key_starts"}},
  };
}
std::vector<spoiled<p>> wrong_sequences() {
  return {
      {"total of v", [](p& x) { x.v.shape[0] = 9; }, TK_BAD_SHAPE, {"v has total_k = 9", "10"}},
      {"total of o", [](p& x) { x.o.shape[0] = 5; }, TK_BAD_SHAPE, {"o has total_q = 5", "6"}},
      {"no starts", [](p& x) { x.starts.given = nullptr; }, TK_BAD_RANK, {"q has 3", "4"}},
      {"b + 1 = 0",
       [](p& x) { x.starts.shape[0] = 0; },
       TK_BAD_SHAPE,
       {"starts has b + 1 = 0", "1 or more"}},
      {"more key_starts",
       [](p& x) { x.key_starts.shape[0] = 4; },
       TK_BAD_SHAPE,
       {"key_starts has b + 1 = 4", "3"}},
      {"sequences without a state",
       [](p& x) { x.starts.shape[0] = x.key_starts.shape[0] = 4; },
       TK_BAD_SHAPE,
       {"initial_kv has b = 2", "3"}},
      {"int64 starts", [](p& x) { x.starts.dl.dtype = int64; }, TK_BAD_TYPE, {"starts", "int32"}},
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
  std::vector<std::int64_t> const tokens{1, 100000, 1, 128}, map{1, 128, 64}, state{1, 1, 128, 128},
      sums{1, 1, 128}, of_queries{1, 1, 100000}, one{1};
  try_faults<p>(faults(), 1);
  check_refusals<s>(3,
                    {tokens, tokens, tokens, map, map, one, one, state, sums, one, tokens, state,
                     sums, of_queries},
                    {TK_UNSUPPORTED}, [] {
                      try_all(wrong_tokens());
                      try_all(wrong_maps());
                      try_all(wrong_states());
                      try_all(wrong_values());
                      try_all(wrong_sequences());
                      try_overlaps<p>();
                    });
}
