// SPDX-License-Identifier: MIT
// add's problem, checked: y = alpha a + beta b. b's data is null where beta is 0. A size that b
// lacks is a's, with stride 0.
#pragma once
#include "ops/tensors.hpp"

namespace tk {

struct add_problem {
  row_tensor_view a, b, y;
  float alpha, beta;
};

// Launches on `stream`; throws tk::error.
void launch(add_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(add_problem const& x);

}  // namespace tk
