// SPDX-License-Identifier: MIT
// What can be wrong with the inputs that the forward and the backward share, and with where tensors
// lie, each with the status and the parts of the sentence that a caller must get.
#pragma once
#include "tests/ops/mamba2/scene.hpp"

namespace scene {

template <class s> std::vector<spoiled<s>> wrong_mamba2_shapes() {
  return {
      {"dt b", sized<s>(&s::dt, 0, 3), TK_BAD_SHAPE, {"dt has b = 3", "x", "2"}},
      {"dt n", sized<s>(&s::dt, 1, 4), TK_BAD_SHAPE, {"dt has n = 4", "x", "5"}},
      {"dt h", sized<s>(&s::dt, 2, 1), TK_BAD_SHAPE, {"dt has h = 1", "x", "2"}},
      {"A", sized<s>(&s::A, 0, 3), TK_BAD_SHAPE, {"A has h = 3", "x", "2"}},
      {"dt_bias", sized<s>(&s::dt_bias, 0, 1), TK_BAD_SHAPE, {"dt_bias has h = 1", "x", "2"}},
      {"D", sized<s>(&s::D, 0, 3), TK_BAD_SHAPE, {"D has h = 3", "x", "2"}},
      {"B b", sized<s>(&s::B, 0, 1), TK_BAD_SHAPE, {"B has b = 1", "x", "2"}},
      {"B n", sized<s>(&s::B, 1, 6), TK_BAD_SHAPE, {"B has n = 6", "x", "5"}},
      {"groups", sized<s>(&s::B, 2, 3), TK_BAD_SHAPE, {"B has g = 3", "divide h = 2"}},
      {"no groups", sized<s>(&s::B, 2, 0), TK_BAD_SHAPE, {"B has g = 0", "divide h = 2"}},
      {"C b", sized<s>(&s::C, 0, 1), TK_BAD_SHAPE, {"C has b = 1", "B", "2"}},
      {"C g", sized<s>(&s::C, 2, 2), TK_BAD_SHAPE, {"C has g = 2", "B", "1"}},
      {"C s", sized<s>(&s::C, 3, 32), TK_BAD_SHAPE, {"C has s = 32", "B", "16"}},
      {"z n", sized<s>(&s::z, 1, 4), TK_BAD_SHAPE, {"z has n = 4", "x", "5"}},
      {"z p", sized<s>(&s::z, 3, 32), TK_BAD_SHAPE, {"z has p = 32", "x", "16"}},
      {"state b", sized<s>(&s::initial_state, 0, 1), TK_BAD_SHAPE, {"initial_state has b = 1"}},
      {"state h", sized<s>(&s::initial_state, 1, 3), TK_BAD_SHAPE, {"initial_state has h = 3"}},
      {"state p", sized<s>(&s::initial_state, 2, 8), TK_BAD_SHAPE, {"initial_state has p = 8"}},
      {"state s", sized<s>(&s::initial_state, 3, 8), TK_BAD_SHAPE, {"initial_state has s = 8"}},
      {"p 24", sized<s>(&s::x, 3, 24), TK_UNSUPPORTED, {"x has p = 24", "16"}},
      {"p 0", sized<s>(&s::x, 3, 0), TK_UNSUPPORTED, {"x has p = 0"}},
      {"s 272", sized<s>(&s::B, 3, 272), TK_UNSUPPORTED, {"B has s = 272", "256"}},
      {"s 8", sized<s>(&s::B, 3, 8), TK_UNSUPPORTED, {"B has s = 8", "16"}},
  };
}

template <class s> std::vector<spoiled<s>> wrong_mamba2_values() {
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"x of rank 3", [](s& x) { x.x.dl.ndim = 3; }, TK_BAD_RANK, {"x has 3 dimensions", "4"}},
      {"D of rank 3", [](s& x) { x.D.dl.ndim = 3; }, TK_BAD_RANK, {"D has 3 dimensions", "2"}},
      {"types", [](s& x) { x.B.dl.dtype = fp16; }, TK_BAD_TYPE, {"B is fp16", "x is bf16"}},
      {"fp32 x", [](s& x) { x.x.dl.dtype = fp32; }, TK_BAD_TYPE, {"x", "bf16 or fp16"}},
      {"fp16 dt", [](s& x) { x.dt.dl.dtype = fp16; }, TK_BAD_TYPE, {"dt is fp16", "x is bf16"}},
      {"bf16 A", [](s& x) { x.A.dl.dtype = bf16; }, TK_BAD_TYPE, {"A", "fp32"}},
      {"bf16 state",
       [](s& x) { x.initial_state.dl.dtype = bf16; },
       TK_BAD_TYPE,
       {"initial_state", "fp32"}},
      {"dt_min nan",
       [](s& x) { x.problem.dt_min = inf - inf; },
       TK_BAD_VALUE,
       {"dt_min is", "nan"}},
      {"dt_max below dt_min",
       [](s& x) { x.problem.dt_max = -1; },
       TK_BAD_VALUE,
       {"dt_min is 0, dt_max -1"}},
      {"dt_softplus", [](s& x) { x.problem.dt_softplus = 2; }, TK_BAD_VALUE, {"dt_softplus is 2"}},
      {"reserved2", [](s& x) { x.problem.reserved2 = 1; }, TK_BAD_STRUCT, {"reserved2 is 1"}},
  };
}

template <class s> std::vector<spoiled<packed_scene<s>>> wrong_mamba2_sequences() {
  using p = packed_scene<s>;
  return {
      {"total", [](p& x) { x.C.shape[0] = 9; }, TK_BAD_SHAPE, {"C has total = 9", "10"}},
      {"total of dt", [](p& x) { x.dt.shape[0] = 9; }, TK_BAD_SHAPE, {"dt has total = 9", "10"}},
      {"no starts", [](p& x) { x.starts.given = nullptr; }, TK_BAD_RANK, {"x has 3", "4"}},
      {"b + 1 = 0",
       [](p& x) { x.starts.shape[0] = 0; },
       TK_BAD_SHAPE,
       {"starts has b + 1 = 0", "1 or more"}},
      {"sequences without a state",
       [](p& x) { x.starts.shape[0] = 4; },
       TK_BAD_SHAPE,
       {"initial_state has b = 2", "3"}},
  };
}

// Those of check_refusals(), and what the two ops share.
template <class s, class Own>
void check_mamba2_refusals(std::vector<std::vector<std::int64_t>> const& sizes, Own const& own) {
  using p = packed_scene<s>;
  try_faults<p>(faults(), 1);
  check_refusals<s>(3, sizes, {TK_UNSUPPORTED}, [&] {  // strides: of an outer dimension of two
    try_all(wrong_mamba2_shapes<s>());
    try_all(wrong_mamba2_values<s>());
    try_all(wrong_mamba2_sequences<s>());
    try_overlaps<p>();
    own();
  });
}

}  // namespace scene
