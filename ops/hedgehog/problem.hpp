// SPDX-License-Identifier: MIT
// The problems of Hedgehog attention, checked.
#pragma once
#include "ops/linear_attention/problem.hpp"

namespace tk {

struct feature_map : any_tensor {  // [h, 128, 64], 64 contiguous; data may be null
  std::int64_t h, h_stride, d_stride;
};
struct head_numbers {  // fp32 [h]; data may be null
  float* data;
  std::int64_t h, stride;
};
struct sum_tensor {  // fp32 [b, h, 128], 128 contiguous
  float* data;
  bool given;
  std::int64_t b, h, b_stride, h_stride;
};
struct query_numbers {  // fp32 [b, h, nq], nq contiguous
  float* data;
  std::int64_t b_stride, h_stride;
};
struct sequence_lengths {  // int32 [b] on the device; null: all have as many keys
  std::int32_t const* data;
  bool given;
};

// What forward and backward are both given.
struct hedgehog_inputs {
  heads q, k, v;
  feature_map map_q, map_k;
  head_numbers alpha, beta;
  state_tensor initial_kv;
  sum_tensor initial_k;
  query_numbers normaliser;
  sequence_starts starts, key_starts;  // both are given, or none
  sequence_lengths lengths;
  float scale;
  repeat_kind repeat;
};
struct hedgehog_problem : hedgehog_inputs {
  heads o;
  state_tensor final_kv;
  sum_tensor final_k;
};
struct hedgehog_backward_problem : hedgehog_inputs {
  heads o, dout, dq, dk, dv;
  feature_map dmap_q, dmap_k;
  head_numbers dalpha, dbeta;
  state_tensor dfinal_kv, dinitial_kv;
  sum_tensor dfinal_k, dinitial_k;
};

// Launches on `stream`; throws tk::error.
void launch(hedgehog_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(hedgehog_problem const& x);
void launch(hedgehog_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(hedgehog_backward_problem const& x);

}  // namespace tk
