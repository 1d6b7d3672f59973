// SPDX-License-Identifier: MIT
// cross_entropy's problems, checked: the loss of each row of logits against its label, and its
// gradient. data is null in what is absent.
#pragma once
#include "ops/tensors.hpp"

namespace tk {

struct cross_entropy_terms {
  std::int64_t ignore_index;
  bool has_ignore_index;
  float label_smoothing, z_loss, softcap;  // softcap 0: none
};

// labels (int32 or int64), loss, lse and dloss (fp32) are rows of width 1.
struct cross_entropy_problem {
  row_tensor_view x, dx, labels, loss, lse;
  cross_entropy_terms terms;
  float dloss_scale;
  repeat_kind repeat;
};

struct cross_entropy_backward_problem {
  row_tensor_view x, dx, labels, lse, dloss;
  cross_entropy_terms terms;
};

// More have not been tried.
inline constexpr std::int64_t most_columns_of_cross_entropy = std::int64_t{1} << 24;

// Launches on `stream`; throws tk::error.
void launch(cross_entropy_problem const& x, void* workspace, void* stream);
void launch(cross_entropy_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(cross_entropy_problem const& x);
std::size_t workspace_bytes(cross_entropy_backward_problem const& x);

}  // namespace tk
