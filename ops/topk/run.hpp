// SPDX-License-Identifier: MIT
// From a checked problem to a launch of topk. topk_run<T> is instantiated once for each row of
// ops/topk/topk.cmake; ops/topk/topk.cpp chooses among them.
#pragma once
#include "ops/topk/topk.hpp"
#include "ops/topk/topk_short.hpp"

namespace tk {

template <class T> struct topk_run {
  static void launch(topk_problem const& x, void* stream);
};

// Two dimensions before the rows of a matrix.
inline topk_rows counted(row_tensor_view const& x) {
  return {x.data, x.row_stride, x.outer_stride, x.middle_stride, lie_evenly(x)};
}

template <class T> tensor<T const> tensor_of(row_tensor_view const& x) {
  return {static_cast<T const*>(x.data),
          x.rows,
          x.width,
          x.row_stride,
          x.outer,
          x.outer_stride,
          x.middle,
          x.middle_stride};
}

// Launches the kernel of the least tiles that rows of x fit into; false where none does.
template <class T> bool launch_short(topk_args const& a, void* stream) {
  constexpr int lanes = be::warp_lanes, run = 8 * lanes;  // columns of a tile that lanes fill once
  auto const fits = [&]<int N, int S>(std::integral_constant<int, N>,
                                      std::integral_constant<int, S>) {
    if (a.width > N / S) return false;
    be::launch<topk_short<T, N, S>>(a, stream);
    return true;
  };
  if (a.k > be::tune_topk_short().most) return false;
  if constexpr (lanes == 1)
    return fits(std::integral_constant<int, 64>{}, std::integral_constant<int, 1>{}) ||
           fits(std::integral_constant<int, 128>{}, std::integral_constant<int, 1>{}) ||
           fits(std::integral_constant<int, 256>{}, std::integral_constant<int, 1>{}) ||
           fits(std::integral_constant<int, 512>{}, std::integral_constant<int, 1>{});
  else
    return fits(std::integral_constant<int, run>{}, std::integral_constant<int, 16>{}) ||
           fits(std::integral_constant<int, run>{}, std::integral_constant<int, 4>{}) ||
           fits(std::integral_constant<int, run>{}, std::integral_constant<int, 1>{}) ||
           fits(std::integral_constant<int, 2 * run>{}, std::integral_constant<int, 1>{});
}

template <class T> void topk_run<T>::launch(topk_problem const& x, void* stream) {
  topk_args const a{.x = counted(x.x),
                    .values = counted(x.values),
                    .indices = counted(x.indices),
                    .each = divisor(static_cast<std::uint32_t>(x.x.rows)),
                    .middle = divisor(static_cast<std::uint32_t>(x.x.middle)),
                    .rows = static_cast<int>(x.x.outer * x.x.middle * x.x.rows),
                    .width = static_cast<int>(x.x.width),
                    .k = static_cast<int>(x.k),
                    .flip = x.smallest ? ~0u : 0u,
                    .wide = x.indices.type == element::int64,
                    .vector_width = vector_width_of(tensor_of<T>(x.x))};
  if (!launch_short<T>(a, stream)) be::launch<topk<T>>(a, stream);
}

}  // namespace tk
