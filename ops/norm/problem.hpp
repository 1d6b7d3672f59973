// SPDX-License-Identifier: MIT
// norm's problems, checked: r = residual + x, of which some elements may be dropped; y is r,
// normalised row by row, perhaps in fp8 with scales; and its gradients. data is null in what is
// absent.
#pragma once
#include "ops/tensors.hpp"

namespace tk {

enum class norm_kind : int { layer, rms };

struct norm_dropout {
  int below;  // 256 p, rounded; 0: none
  std::uint64_t seed, offset;
  std::uint64_t const* random_state;  // seed and offset, or null
};

// Of y in fp8: a number for each row; data is null where y is of x's type.
struct norm_scale : row_tensor_view {
  bool given, power_of_two;
};

struct norm_problem {
  row_tensor_view x, residual, y, r;  // residual and r of x's type, or both fp32
  any_tensor weight, bias;            // of one type
  norm_kind kind;
  float eps;
  element stream;  // the type of residual and r
  norm_dropout dropout;
  norm_scale y_scale;
};

// Without rows there are none in any matrix: outer and middle are 1. dweight and dbias are 0 then.
struct norm_backward_problem {
  row_tensor_view r, dy, dr, dx, dresidual;  // r, dr and dresidual of dy's type, or all fp32
  any_tensor weight, dweight, dbias;         // dweight and dbias of one type
  norm_kind kind;
  float eps;
  norm_dropout dropout;
};

// Launches on `stream`; throws tk::error.
void launch(norm_problem const& x, void* workspace, void* stream);
void launch(norm_backward_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(norm_problem const& x);
std::size_t workspace_bytes(norm_backward_problem const& x);

}  // namespace tk
