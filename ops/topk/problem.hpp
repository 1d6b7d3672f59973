// SPDX-License-Identifier: MIT
// topk's problem, checked. data is null in what is absent; k is the width of what is there.
#pragma once
#include "ops/tensors.hpp"

namespace tk {

inline constexpr int most_of_a_row = 1024;  // k

struct topk_problem {
  row_tensor_view x, values, indices;
  std::int64_t k;
  bool smallest;
};

// Launches on `stream`; throws tk::error.
void launch(topk_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(topk_problem const& x);

}  // namespace tk
