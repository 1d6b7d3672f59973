// SPDX-License-Identifier: MIT
// The problem of Hedgehog attention, checked.
#pragma once
#include "ops/linear_attention/problem.hpp"

namespace tk {

struct feature_map : any_tensor {  // [h, 128, 64], 64 contiguous
  std::int64_t h, h_stride, d_stride;
};
struct head_numbers {  // fp32 [h]
  float const* data;
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
};

struct hedgehog_problem {
  heads q, k, v, o;
  feature_map map_q, map_k;
  head_numbers alpha, beta;
  state_tensor initial_kv, final_kv;
  sum_tensor initial_k, final_k;
  sequence_starts starts, key_starts;  // both are given, or none
  sequence_lengths lengths;
  query_numbers normaliser;
  float scale;
  repeat_kind repeat;
};

// Launches on `stream`; throws tk::error.
void launch(hedgehog_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(hedgehog_problem const& x);

}  // namespace tk
