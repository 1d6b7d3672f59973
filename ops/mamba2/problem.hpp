// SPDX-License-Identifier: MIT
// The problems of mamba2's ops, checked.
#pragma once
#include "ops/linear_attention/problem.hpp"

namespace tk {

struct step_tensor : any_tensor {  // [b, n, h], of packed sequences without b
  std::int64_t b_stride, n_stride, h_stride;
};
struct head_vector {  // fp32 [h], or [h, p]; p_stride is 0 where a head has one number
  float* data;
  bool given, of_columns;
  std::int64_t h_stride, p_stride;
};

// What forward and backward are both given.
struct mamba2_inputs_given {
  heads x, B, C, z;
  step_tensor dt;
  head_vector A, D, dt_bias;  // data of the last two may be null, and z's
  state_tensor initial;       // [b, h, p, s]
  sequence_starts starts;
  float dt_min, dt_max;
  bool softplus;
};
struct mamba2_problem : mamba2_inputs_given {
  heads y;
  state_tensor final;
  repeat_kind repeat;
};

struct mamba2_backward_problem : mamba2_inputs_given {
  heads dy, dx, dB, dC, dz;  // dz may be absent, and so may dD, ddt_bias and states
  step_tensor ddt;
  head_vector dA, dD, ddt_bias;
  state_tensor dfinal, dinitial;
};

// Launches on `stream`; throws tk::error.
void launch(mamba2_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(mamba2_problem const& x);
void launch(mamba2_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(mamba2_backward_problem const& x);

}  // namespace tk
