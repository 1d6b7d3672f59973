// SPDX-License-Identifier: MIT
// From a checked problem to a launch of norm. norm_run<T> is instantiated once for each row of
// ops/instances.cmake; ops/norm/norm.cpp chooses among them.
#pragma once
#include <algorithm>

#include "backends/runtime.hpp"
#include "ops/norm/norm.hpp"

namespace tk {

template <class T> struct norm_run {
  static void launch(norm_problem const& x, void* stream);
};

// What a kernel needs of a matrix, as rows of R by C tiles.
template <int R, int C, class T> auto rows_operand(matrix const& x) {
  tensor<T> const of{static_cast<T*>(x.data), x.rows, x.cols, x.row_stride};
  if constexpr (is_flat<R>) return flat_operand<T>{of, x.data ? granule_of(of) : 0};
  else if constexpr (std::is_const_v<T>) return be::read_from<R, C>(of);
  else return be::write_to<R, C>(of);
}

inline int row_granule(any_tensor const& x) {
  return x.type == element::fp32
             ? granule_of(tensor<float const>{static_cast<float*>(x.data), 1, 1, 0})
             : granule_of(tensor<bf16 const>{static_cast<bf16*>(x.data), 1, 1, 0});
}

template <class T, int Class> void launch_norm(norm_problem const& x, void* stream) {
  using op = norm<T, Class>;
  typename op::args a{};
  constexpr int R = op::R, N = op::N, V = op::V;
  a.x = rows_operand<R, N, T const>(x.x);
  a.y = rows_operand<R, V, T>(x.y);
  if (x.residual.data) a.residual = rows_operand<R, N, T const>(x.residual);
  if (x.r.data) a.r = rows_operand<R, V, T>(x.r);
  a.has_residual = x.residual.data != nullptr;
  a.stores_r = x.r.data != nullptr;
  a.weight = x.weight.data;
  a.bias = x.bias.data;
  a.weight_granule = row_granule(x.weight);
  a.bias_granule = row_granule(x.bias);
  a.weight_is_fp32 = (x.weight.data ? x.weight : x.bias).type == element::fp32;
  a.layer = x.kind == norm_kind::layer;
  // Flat rows that begin and end at multiples of 16 bytes.
  a.through_ring = op::has_ring;
  if constexpr (op::flat) {
    constexpr int chunk = chunk_of<T>;
    if (x.x.cols % chunk != 0 || a.x.granule != chunk ||
        (a.has_residual && a.residual.granule != chunk))
      a.through_ring = false;
  }
  a.rows = static_cast<int>(x.x.rows);
  a.width = static_cast<int>(x.x.cols);
  a.pieces = ceil_div(a.width, op::span);
  a.held = a.through_ring && a.pieces * op::operands(a) <= op::stages;
  a.groups = ceil_div(a.rows, op::group);
  a.tasks = std::min(a.groups, be::rt::multiprocessors() * be::norm_tasks_per_unit);
  a.eps = x.eps;
  a.per_column = 1.f / static_cast<float>(a.width);
  be::launch<op>(a, stream);
}

// The class of the narrowest tiles that hold a row; a wider one, whose steps are of fewer rows,
// where there would be too few tasks.
template <class T, int Class = 0> void choose_norm(norm_problem const& x, void* stream) {
  if constexpr (Class < be::norm_classes) {
    using op = norm<T, Class>;
    bool const few =
        op::group > 1 && x.x.rows < std::int64_t{be::rt::multiprocessors()} * op::group;
    if (x.x.cols > op::span || (few && Class + 1 < be::norm_classes))
      return choose_norm<T, Class + 1>(x, stream);
  }
  launch_norm<T, Class>(x, stream);
}

template <class T> void norm_run<T>::launch(norm_problem const& x, void* stream) {
  choose_norm<T>(x, stream);
}

}  // namespace tk
