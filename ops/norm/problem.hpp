// SPDX-License-Identifier: MIT
// norm's problem, checked: r = x + residual; y is r, normalised row by row. data is null in what is
// absent.
#pragma once
#include "ops/tensors.hpp"

namespace tk {

enum class norm_kind : int { layer, rms };

struct norm_problem {
  matrix x, residual, y, r;  // batch 1
  any_tensor weight, bias;   // of one type
  norm_kind kind;
  float eps;
};

// Launches on `stream`; throws tk::error.
void launch(norm_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(norm_problem const& x);

}  // namespace tk
