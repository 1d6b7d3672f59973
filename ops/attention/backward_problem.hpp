// SPDX-License-Identifier: MIT
// attention_backward's problem, checked.
#pragma once
#include "ops/attention/problem.hpp"

namespace tk {

struct attention_backward_problem {
  heads q, k, v, o, dout, dq, dk, dv;
  float const* lse;  // [b, hq, nq], or [hq, nq] of packed sequences
  std::int64_t lse_b_stride, lse_h_stride;
  mask_kind mask;
  float scale;
  attention_terms terms;
  bias_tensor dbias;  // of the bias's shape
  float* dsinks;      // [hq], where wanted
  std::int64_t dsinks_stride;
  bool wants_dsinks;

  // Whether dq, dk or dv has a row.
  bool has_rows() const { return terms.b > 0 && k.h > 0 && (k.n > 0 || (q.n > 0 && q.h > 0)); }
  // Sinks are in lse already.
  option_set options() const { return terms.options(false); }
};

// Launches on `stream`; throws tk::error.
void launch(attention_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(attention_backward_problem const& x);

}  // namespace tk
