// SPDX-License-Identifier: MIT
// rotary's problem, checked. data is null in what is absent.
#pragma once
#include "ops/tensors.hpp"

namespace tk {

struct rotary_problem {
  row_tensor_view q, k, q_out, k_out;  // [b, n, heads, d]
  row_tensor_view cos, sin;            // rows [m, w]
  row_tensor_view numbers;             // [b, n, 1, 1], int32 or int64: positions or offsets
  bool are_offsets, interleaved, inverse;
};

// Launches on `stream`; throws tk::error.
void launch(rotary_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(rotary_problem const& x);

}  // namespace tk
