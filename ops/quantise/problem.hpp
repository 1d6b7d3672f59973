// SPDX-License-Identifier: MIT
// quantise's problems, checked: x to fp8 with a scale for each block.
#pragma once
#include <array>

#include "ops/tensors.hpp"

namespace tk {

// tk_scale_kind of ops/tk_base.h.
enum class scale_kind : int { row, by_1x128, by_128x128, tensor, given };

struct quantise_problem {
  row_tensor_view x, y;
  float* scale;
  std::array<std::int64_t, 4> scale_stride;  // by b, h, rows or blocks of them, blocks of columns
  scale_kind kind;
  bool power_of_two;
};

// One launch: rows of x with a number of `scale` each, which is found or given. data of y is null
// where nothing is quantised yet.
struct quantise_rows {
  row_tensor_view x, y, scale;
  bool given;
};

// Launches on `stream`; throws tk::error.
void launch(quantise_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(quantise_problem const& x);

}  // namespace tk
