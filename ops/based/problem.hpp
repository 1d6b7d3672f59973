// SPDX-License-Identifier: MIT
// The problems of Based's ops, checked.
#pragma once
#include "ops/linear_attention/problem.hpp"

namespace tk {

// fp32 [b, h, 153], the last dimension contiguous.
struct moment_sums {
  float* data;
  bool given;
  std::int64_t b_stride, h_stride;
};

struct based_problem {
  heads q, k, v, o;
  state_tensor initial, final;           // [b, h, 153, dv]
  moment_sums initial_sums, final_sums;  // of a call that normalises
  sequence_starts starts;
  float scale;
  bool normalises;
  repeat_kind repeat;
};

struct based_backward_problem {
  heads q, k, v, dout, dq, dk, dv;
  state_tensor initial, dfinal, dinitial;
  moment_sums initial_sums, dfinal_sums, dinitial_sums;
  sequence_starts starts;
  float scale;
  bool normalises;
};

// Launches on `stream`; throws tk::error.
void launch(based_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(based_problem const& x);
void launch(based_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(based_backward_problem const& x);

}  // namespace tk
