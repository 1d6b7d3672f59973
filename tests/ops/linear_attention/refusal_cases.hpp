// SPDX-License-Identifier: MIT
// What can be wrong with the inputs that the forward and the backward share, and with where tensors
// lie, each with the status and the parts of the sentence that a caller must get.
#pragma once
#include "tests/ops/linear_attention/scene.hpp"
#include "tests/support/refusals.hpp"

namespace scene {

template <class s> std::vector<spoiled<s>> wrong_shapes() {
  return {
      {"k b", [](s& x) { x.k.shape[0] = 1; }, TK_BAD_SHAPE, {"k has b = 1", "q", "2"}},
      {"k n", [](s& x) { x.k.shape[1] = 4; }, TK_BAD_SHAPE, {"k has n = 4", "q", "5"}},
      {"k h", [](s& x) { x.k.shape[2] = 1; }, TK_BAD_SHAPE, {"k has h = 1", "q", "2"}},
      {"k d", [](s& x) { x.k.shape[3] = 32; }, TK_BAD_SHAPE, {"k has d = 32", "q", "16"}},
      {"v b", [](s& x) { x.v.shape[0] = 3; }, TK_BAD_SHAPE, {"v has b = 3", "q", "2"}},
      {"v n", [](s& x) { x.v.shape[1] = 6; }, TK_BAD_SHAPE, {"v has n = 6", "q", "5"}},
      {"v h", [](s& x) { x.v.shape[2] = 1; }, TK_BAD_SHAPE, {"v has h = 1", "q", "2"}},
      {"log_decay b", sized<s>(&s::log_decay, 0, 3), TK_BAD_SHAPE, {"log_decay has b = 3", "2"}},
      {"log_decay n", sized<s>(&s::log_decay, 1, 1), TK_BAD_SHAPE, {"log_decay has n = 1", "5"}},
      {"log_decay h", sized<s>(&s::log_decay, 2, 1), TK_BAD_SHAPE, {"log_decay has h = 1", "2"}},
      {"state b",
       sized<s>(&s::initial_state, 0, 1),
       TK_BAD_SHAPE,
       {"initial_state has b = 1", "2"}},
      {"state h",
       sized<s>(&s::initial_state, 1, 3),
       TK_BAD_SHAPE,
       {"initial_state has h = 3", "2"}},
      {"state d",
       sized<s>(&s::initial_state, 2, 32),
       TK_BAD_SHAPE,
       {"initial_state has d = 32", "16"}},
      {"state dv",
       sized<s>(&s::initial_state, 3, 16),
       TK_BAD_SHAPE,
       {"initial_state has dv = 16", "32"}},
      {"d 24",
       [](s& x) { x.q.shape[3] = x.k.shape[3] = 24; },
       TK_UNSUPPORTED,
       {"q has d = 24", "16"}},
      {"d 0", [](s& x) { x.q.shape[3] = x.k.shape[3] = 0; }, TK_UNSUPPORTED, {"q has d = 0"}},
      {"d 272", [](s& x) { x.q.shape[3] = x.k.shape[3] = 272; }, TK_UNSUPPORTED, {"272", "256"}},
      {"dv 8", [](s& x) { x.v.shape[3] = 8; }, TK_UNSUPPORTED, {"v has dv = 8", "16"}},
  };
}

template <class s> std::vector<spoiled<s>> wrong_values() {
  constexpr auto inf = std::numeric_limits<float>::infinity();
  return {
      {"q of rank 3", [](s& x) { x.q.dl.ndim = 3; }, TK_BAD_RANK, {"q has 3 dimensions", "4"}},
      {"types", [](s& x) { x.v.dl.dtype = fp16; }, TK_BAD_TYPE, {"v is fp16", "q is bf16"}},
      {"fp32 k", [](s& x) { x.k.dl.dtype = fp32; }, TK_BAD_TYPE, {"k", "bf16 or fp16"}},
      {"bf16 decay", [](s& x) { x.log_decay.dl.dtype = bf16; }, TK_BAD_TYPE, {"log_decay", "fp32"}},
      {"bf16 state",
       [](s& x) { x.initial_state.dl.dtype = bf16; },
       TK_BAD_TYPE,
       {"initial_state", "fp32"}},
      {"both decays",
       [](s& x) { x.decay.given = &x.decay.dl; },
       TK_BAD_VALUE,
       {"log_decay and decay", "NULL"}},
      {"scale nan", [](s& x) { x.problem.scale = inf - inf; }, TK_BAD_VALUE, {"scale is", "nan"}},
      {"scale inf", [](s& x) { x.problem.scale = -inf; }, TK_BAD_VALUE, {"scale is -inf"}},
      {"scale 0", [](s& x) { x.problem.scale = 0; }, TK_BAD_VALUE, {"scale is 0", "2^-64"}},
      {"scale 2^-65", [](s& x) { x.problem.scale = -0x1p-65f; }, TK_BAD_VALUE, {"scale", "2^-64"}},
      {"scale 2^65", [](s& x) { x.problem.scale = 0x1p65f; }, TK_BAD_VALUE, {"scale", "2^64"}},
      {"reserved2", [](s& x) { x.problem.reserved2 = 1; }, TK_BAD_STRUCT, {"reserved2 is 1"}},
      {"repeat",
       [](s& x) { x.problem.repeat = as<tk_repeat>(2); },
       TK_BAD_VALUE,
       {"repeat is 2", "TK_REPEAT_RUN or TK_REPEAT_ROW"}},
  };
}

template <class s> std::vector<spoiled<by_head<s>>> wrong_decays() {
  using h = by_head<s>;
  return {{"h", [](h& x) { x.decay.shape[0] = 3; }, TK_BAD_SHAPE, {"decay has h = 3", "2"}},
          {"rank 2", [](h& x) { x.decay.dl.ndim = 2; }, TK_BAD_RANK, {"decay has 2", "1"}}};
}

template <class s> std::vector<spoiled<packed_scene<s>>> wrong_sequences() {
  using p = packed_scene<s>;
  return {
      {"total", [](p& x) { x.k.shape[0] = 9; }, TK_BAD_SHAPE, {"k has total = 9", "10"}},
      {"total of log_decay",
       [](p& x) { x.log_decay.shape[0] = 9; },
       TK_BAD_SHAPE,
       {"log_decay has total = 9", "10"}},
      {"no starts", [](p& x) { x.starts.given = nullptr; }, TK_BAD_RANK, {"q has 3", "4"}},
      {"b + 1 = 0",
       [](p& x) { x.starts.shape[0] = 0; },
       TK_BAD_SHAPE,
       {"starts has b + 1 = 0", "1 or more"}},
      {"sequences without a state",
       [](p& x) { x.starts.shape[0] = 4; },
       TK_BAD_SHAPE,
       {"initial_state has b = 2", "3"}},
      {"int64 starts", [](p& x) { x.starts.dl.dtype = int64; }, TK_BAD_TYPE, {"starts", "int32"}},
  };
}

// Those of check_refusals(), and what the two ops share.
template <class s, class Own>
void check_all_refusals(std::vector<std::vector<std::int64_t>> const& sizes, Own const& own) {
  using h = by_head<s>;
  using p = packed_scene<s>;
  try_faults<h>(faults(), 1);
  try_faults<p>(faults(), 1);
  check_refusals<s>(3, sizes, {TK_UNSUPPORTED}, [&] {  // strides: of an outer dimension of two
    try_all(wrong_shapes<s>());
    try_all(wrong_values<s>());
    try_all(wrong_decays<s>());
    try_all(wrong_sequences<s>());
    try_overlaps<h>();
    try_overlaps<p>();
    own();
  });
}

}  // namespace scene
