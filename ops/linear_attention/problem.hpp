// SPDX-License-Identifier: MIT
// The problems of linear attention's ops, checked.
#pragma once
#include "ops/tensors.hpp"

namespace tk {

struct state_tensor : any_tensor {  // fp32 [b, h, d, dv], dv contiguous
  bool given;
  std::int64_t b, h, d, dv, b_stride, h_stride, d_stride;
};

// Decays of tokens: log_decay[b, n, h], or decay[h] of heads, or none. Packed sequences lack b.
template <class T> struct decays_of {
  T* data;
  bool given, of_heads;
  std::int64_t b_stride, n_stride, h_stride;
};
using token_decays = decays_of<float const>;
using decay_gradients = decays_of<float>;

// The offsets of packed sequences, int32 [b + 1] on the device; null where there is a batch.
struct sequence_starts {
  std::int32_t const* data;
  bool given;
  std::int64_t b;  // sequences, packed or not
};

struct linear_attention_problem {
  heads q, k, v, o;
  token_decays decays;
  state_tensor initial, final;
  sequence_starts starts;
  float scale;
  repeat_kind repeat;
};

struct linear_attention_backward_problem {
  heads q, k, v, dout, dq, dk, dv;
  token_decays decays;
  decay_gradients ddecays;
  state_tensor initial, dfinal, dinitial;
  sequence_starts starts;
  float scale;
};

// Launches on `stream`; throws tk::error.
void launch(linear_attention_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(linear_attention_problem const& x);
void launch(linear_attention_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(linear_attention_backward_problem const& x);

}  // namespace tk
