// SPDX-License-Identifier: MIT
// linear_cross_entropy's problem, checked, and how it is worked off: chunks of rows, each a gemm, a
// cross_entropy and, for the gradients, two gemms more. Where a label may be ignored, dw's reads a
// copy of x, and dx is gone over, so that nothing of an ignored row is in them.
#pragma once
#include "ops/cross_entropy/problem.hpp"

namespace tk {

struct linear_cross_entropy_problem {
  matrix x, w, dx, dw;                // [rows, d], [vocab, d]
  row_tensor_view labels, loss, lse;  // rows of width 1; lse: data is null where it is absent
  bool has_dx, has_dw;
  cross_entropy_terms terms;
  float dloss_scale;
  std::int64_t chunk_rows;  // 0: chosen
  repeat_kind repeat;
};

struct linear_cross_entropy_plan {
  std::int64_t chunk_rows;  // the last chunk may have fewer
  std::int64_t pitch;       // of logits, in elements
  std::int64_t x_pitch;     // of the copy of a chunk's x; 0: there is none
  std::size_t logits;       // offset of a chunk's; what is before is the workspace of its parts
  std::size_t x;            // offset of that copy
  std::size_t workspace_bytes;
};
linear_cross_entropy_plan plan_linear_cross_entropy(linear_cross_entropy_problem const& x);

// Launches on `stream`; throws tk::error.
void launch(linear_cross_entropy_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(linear_cross_entropy_problem const& x);

}  // namespace tk
