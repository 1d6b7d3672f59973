// SPDX-License-Identifier: MIT
// gemm's problem, checked: d = activation(alpha op(a) op(b) + beta c + bias); m, n, k are those of
// op(a) [m, k], op(b) [k, n].
#pragma once
#include "ops/tensors.hpp"

namespace tk {

enum class bias_kind : int { none, row, column };

struct gemm_problem {
  matrix a, b, c, d;  // c: data is null where beta is 0; a, b, c: batch 1 serves each of d's
  any_tensor bias;    // data is null where there is none
  std::int64_t batch, m, n, k;
  bool transpose_a, transpose_b;
  float alpha, beta;
  bias_kind bias_along;
  activation_kind activation;
  repeat_kind repeat;
};

// Launches on `stream`; throws tk::error.
void launch(gemm_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(gemm_problem const& x);

}  // namespace tk
