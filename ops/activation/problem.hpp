// SPDX-License-Identifier: MIT
// activation's problems, checked: y = act(a) b element by element, and its gradients. data is null
// in what is absent. Interleaved, a and da are twice as wide as the others, and hold pairs (a, b).
#pragma once
#include "ops/tensors.hpp"

namespace tk {

struct activation_problem {
  row_tensor_view a, b, y;
  activation_kind kind;
  bool interleaved;
};

struct activation_backward_problem {
  row_tensor_view a, b, dy, da, db;
  activation_kind kind;
  bool interleaved;
};

// Launches on `stream`; throws tk::error.
void launch(activation_problem const& x, void* workspace, void* stream);
void launch(activation_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(activation_problem const& x);
std::size_t workspace_bytes(activation_backward_problem const& x);

}  // namespace tk
