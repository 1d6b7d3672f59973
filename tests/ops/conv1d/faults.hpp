// SPDX-License-Identifier: MIT
// What can be wrong with the operands that conv1d and its backward have in common.
#pragma once
#include "tests/support/refusals.hpp"

namespace scene {

template <class s> std::vector<spoiled<s>> operand_faults() {
  auto const set = [](tensor s::* t, std::size_t axis, std::int64_t size) {
    return [=](s& x) { (x.*t).shape[axis] = size; };
  };
  auto const type = [](tensor s::* t, DLDataType type) {
    return [=](s& x) { (x.*t).dl.dtype = type; };
  };
  auto const taps = [](std::int64_t w) {
    return [=](s& x) { x.weight.shape[1] = x.weight.strides[0] = w; };
  };
  auto const activation = [](int kind) {
    return [=](s& x) { x.problem.activation = as<tk_activation_kind>(kind); };
  };
  return {
      {"c of weight", set(&s::weight, 0, 19), TK_BAD_SHAPE, {"weight has c = 19", "x", "20"}},
      {"c of bias", set(&s::bias, 0, 21), TK_BAD_SHAPE, {"bias has c = 21", "x", "20"}},
      {"w 1", taps(1), TK_UNSUPPORTED, {"weight has w = 1", "2 to 4"}},
      {"w 5", taps(5), TK_UNSUPPORTED, {"weight has w = 5", "2 to 4"}},
      {"w 0", taps(0), TK_UNSUPPORTED, {"weight has w = 0", "2 to 4"}},
      {"weight with gaps",
       [](s& x) { x.weight.strides[0] = 5; },
       TK_BAD_STRIDE,
       {"weight has stride 5", "w = 4"}},
      {"sequences of initial_state",
       set(&s::initial, 0, 1),
       TK_BAD_SHAPE,
       {"initial_state has sequences = 1", "2"}},
      {"tokens of initial_state",
       set(&s::initial, 1, 2),
       TK_BAD_SHAPE,
       {"initial_state has w - 1 = 2", "3"}},
      {"c of initial_state",
       set(&s::initial, 2, 19),
       TK_BAD_SHAPE,
       {"initial_state has c = 19", "20"}},
      {"x of rank 1", [](s& x) { x.x.dl.ndim = 1; }, TK_BAD_RANK, {"x has 1", "2 or 3"}},
      {"weight of rank 3", [](s& x) { x.weight.dl.ndim = 3; }, TK_BAD_RANK, {"weight has 3", "2"}},
      {"bias of rank 2", [](s& x) { x.bias.dl.ndim = 2; }, TK_BAD_RANK, {"bias has 2", "1"}},
      {"weight, x", type(&s::weight, bf16), TK_BAD_TYPE, {"weight is bf16", "x is fp32"}},
      {"bias, weight", type(&s::bias, fp16), TK_BAD_TYPE, {"bias is fp16", "is fp32"}},
      {"initial_state, x",
       type(&s::initial, bf16),
       TK_BAD_TYPE,
       {"initial_state is bf16", "x is fp32"}},
      {"bias of x's type, weight fp32",
       [](s& x) {
         for (auto* t : x.typed()) t->dl.dtype = bf16;
         x.bias.dl.dtype = bf16;
       },
       TK_BAD_TYPE,
       {"bias is bf16", "weight is fp32"}},
      {"relu",
       activation(TK_ACTIVATION_RELU),
       TK_UNSUPPORTED,
       {"activation is TK_ACTIVATION_RELU"}},
      {"activation 6", activation(6), TK_BAD_VALUE, {"activation is 6"}},
      {"activation -1", activation(-1), TK_BAD_VALUE, {"activation is -1"}},
      {"reserved_activation",
       [](s& x) { x.problem.reserved_activation = 1; },
       TK_BAD_STRUCT,
       {"reserved_activation is 1"}},
  };
}

template <class s> std::vector<spoiled<s>> packed_faults() {
  return {
      {"a batch",
       [](s& x) {
         for (auto* t : x.tokens()) t->shape[0] = 2, t->shape[1] = 3;
       },
       TK_BAD_SHAPE,
       {"x has b = 2", "starts"}},
      {"no offset", [](s& x) { x.starts.shape[0] = 0; }, TK_BAD_SHAPE, {"sequences + 1 = 0"}},
      {"sequences",
       [](s& x) { x.starts.shape[0] = 5; },
       TK_BAD_SHAPE,
       {"initial_state has sequences = 2", "4"}},
      {"int64", [](s& x) { x.starts.dl.dtype = int64; }, TK_BAD_TYPE, {"starts is int64"}},
      {"rank 2", [](s& x) { x.starts.dl.ndim = 2; }, TK_BAD_RANK, {"starts has 2", "1"}},
  };
}

}  // namespace scene
