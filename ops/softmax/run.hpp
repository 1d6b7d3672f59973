// SPDX-License-Identifier: MIT
// From a checked problem to a launch of softmax. softmax_run<T, Masked> is instantiated once for
// each row of ops/softmax/softmax.cmake; ops/softmax/softmax.cpp chooses among them.
#pragma once
#include "ops/row_launch.hpp"
#include "ops/softmax/problem.hpp"
#include "ops/softmax/softmax.hpp"

namespace tk {

template <class T, bool Masked> struct softmax_run {
  static void launch(softmax_problem const& x, void* workspace, void* stream);
};

inline seen_columns columns_seen(mask_kind mask, row_tensor_view const& x) {
  auto const rows = static_cast<int>(x.rows);
  return {mask == mask_kind::causal, rows, static_cast<int>(x.width),
          divisor(static_cast<std::uint32_t>(std::max(rows, 1)))};
}

template <class T, bool Masked>
void softmax_run<T, Masked>::launch(softmax_problem const& x, void* workspace, void* stream) {
  auto const with_bias = [&]<class B>(B) {
    row_problem<softmax<T, B, Masked>> rows{
        {x.scale * log2_e, columns_seen(x.mask, x.x)}, {x.x}, {x.y}};
    rows.in[Masked ? 2 : 1] = x.bias;
    if constexpr (Masked) rows.in[1] = x.bool_mask;
    launch_rows(rows, workspace, stream);
  };
  if (x.bias.data && x.bias.type == element::fp32) with_bias(float{});
  else with_bias(T{});
}

}  // namespace tk
