// SPDX-License-Identifier: MIT
// transpose's problem, checked: y[.., j, i] = x[.., i, j].
#pragma once
#include "ops/tensors.hpp"

namespace tk {

struct transpose_problem {
  row_tensor_view x, y;  // rows and width of y are x's width and rows
};

// Launches on `stream`; throws tk::error.
void launch(transpose_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(transpose_problem const& x);

}  // namespace tk
