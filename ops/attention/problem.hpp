// SPDX-License-Identifier: MIT
// attention_forward's problem, checked.
#pragma once
#include "ops/tensors.hpp"

namespace tk {

enum class mask_kind : int { none, causal };

struct heads : any_tensor {  // [b, n, h, d]
  std::int64_t b, n, h, d, b_stride, n_stride, h_stride;
};

struct attention_forward_problem {
  heads q, k, v, o;
  float* lse;  // [b, hq, nq]; may be null
  std::int64_t lse_b_stride, lse_h_stride;
  mask_kind mask;
  float scale;
};

// Launches on `stream`; throws tk::error.
void launch(attention_forward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(attention_forward_problem const& x);

}  // namespace tk
