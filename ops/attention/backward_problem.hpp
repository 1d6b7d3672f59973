// SPDX-License-Identifier: MIT
// attention_backward's problem, checked.
#pragma once
#include "ops/attention/problem.hpp"

namespace tk {

struct attention_backward_problem {
  heads q, k, v, o, dout, dq, dk, dv;
  float const* lse;  // [b, hq, nq]
  std::int64_t lse_b_stride, lse_h_stride;
  mask_kind mask;
  float scale;
};

// Launches on `stream`; throws tk::error.
void launch(attention_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(attention_backward_problem const& x);

}  // namespace tk
