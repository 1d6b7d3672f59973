// SPDX-License-Identifier: MIT
// embedding's problem, checked. data is null in what is absent.
#pragma once
#include "ops/tensors.hpp"

namespace tk {

struct embedding_problem {
  row_tensor_view table;  // rows [v, d]
  row_tensor_view ids;    // [b, s, n, 1], int32 or int64
  row_tensor_view y;      // [b, s, n, d]
};

// Launches on `stream`; throws tk::error.
void launch(embedding_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(embedding_problem const& x);

}  // namespace tk
