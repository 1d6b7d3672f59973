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

template <class Operand> Operand rows_operand(matrix const& x) {
  Operand o{};
  if (!x.data) return o;
  using pointer = decltype(o.of.data);
  o.of = {static_cast<pointer>(x.data), x.rows, x.cols, x.row_stride};
  o.granule = granule_of(o.of);
  return o;
}

inline int row_granule(any_tensor const& x) {
  return x.type == element::fp32
             ? granule_of(tensor<float const>{static_cast<float*>(x.data), 1, 1, 0})
             : granule_of(tensor<bf16 const>{static_cast<bf16*>(x.data), 1, 1, 0});
}

template <class T, int Class> void launch_norm(norm_problem const& x, void* stream) {
  using op = norm<T, Class>;
  typename op::args a{};
  a.x = rows_operand<decltype(a.x)>(x.x);
  a.residual = rows_operand<decltype(a.residual)>(x.residual);
  a.y = rows_operand<decltype(a.y)>(x.y);
  a.r = rows_operand<decltype(a.r)>(x.r);
  a.weight = x.weight.data;
  a.bias = x.bias.data;
  a.weight_granule = row_granule(x.weight);
  a.bias_granule = row_granule(x.bias);
  a.weight_is_fp32 = (x.weight.data ? x.weight : x.bias).type == element::fp32;
  a.layer = x.kind == norm_kind::layer;
  // What bulk copies take: 16 bytes at 16-byte boundaries.
  constexpr int chunk = chunk_of<T>;
  a.through_ring = op::has_ring && x.x.cols % chunk == 0 && a.x.granule == chunk &&
                   (!x.residual.data || a.residual.granule == chunk);
  a.rows = static_cast<int>(x.x.rows);
  a.width = static_cast<int>(x.x.cols);
  a.pieces = ceil_div(a.width, op::N);
  a.groups = ceil_div(a.rows, op::group);
  a.tasks = std::min(a.groups, be::rt::multiprocessors() * be::norm_tasks_per_unit);
  a.eps = x.eps;
  be::launch<op>(a, stream);
}

// The class of the shortest tiles that hold a row; a longer one where there would be too few tasks.
template <class T, int Class = 0> void choose_norm(norm_problem const& x, void* stream) {
  if constexpr (Class < be::norm_classes) {
    using op = norm<T, Class>;
    bool const few = x.x.rows < std::int64_t{be::rt::multiprocessors()} * op::group;
    if (x.x.cols > op::N || (few && Class + 1 < be::norm_classes))
      return choose_norm<T, Class + 1>(x, stream);
  }
  launch_norm<T, Class>(x, stream);
}

template <class T> void norm_run<T>::launch(norm_problem const& x, void* stream) {
  choose_norm<T>(x, stream);
}

}  // namespace tk
