// SPDX-License-Identifier: MIT
// softmax's problems, checked: y = softmax(scale x + bias) row by row, and its gradients. data is
// null in what is absent. A size that bias or bool_mask lacks is x's, with stride 0.
#pragma once
#include "ops/tensors.hpp"

namespace tk {

struct softmax_problem {
  row_tensor_view x, bias, y;
  float scale;
  mask_kind mask;
  row_tensor_view bool_mask;
};

struct softmax_backward_problem {
  row_tensor_view y, dy, dx, dbias;
  float scale;
  mask_kind mask;
};

// Launches on `stream`; throws tk::error.
void launch(softmax_problem const& x, void* workspace, void* stream);
void launch(softmax_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(softmax_problem const& x);
std::size_t workspace_bytes(softmax_backward_problem const& x);

}  // namespace tk
