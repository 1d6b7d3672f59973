// SPDX-License-Identifier: MIT
// From a checked problem to a launch of norm. norm_run<T> is instantiated once for each row of
// ops/norm/norm.cmake; ops/norm/norm.cpp chooses among them.
#pragma once
#include <algorithm>

#include "backends/runtime.hpp"
#include "ops/norm/norm.hpp"

namespace tk {

template <class T> struct norm_run {
  static void launch(norm_problem const& x, void* workspace, void* stream);
};

// What a kernel needs of a matrix, as rows of R by C tiles.
template <int R, int C, class T> auto rows_operand(matrix const& x) {
  tensor<T> const of{static_cast<T*>(x.data), x.rows, x.cols, x.row_stride};
  if constexpr (is_flat<R>) return flat_operand<T>{of, x.data ? vector_width_of(of) : 0};
  else if constexpr (std::is_const_v<T>) return be::read_from<R, C>(of);
  else return be::write_to<R, C>(of);
}

inline int row_vector_width(any_tensor const& x) {
  return x.type == element::fp32
             ? vector_width_of(tensor<float const>{static_cast<float*>(x.data), 1, 1, 0})
             : vector_width_of(tensor<bf16 const>{static_cast<bf16*>(x.data), 1, 1, 0});
}

// Whether the rows of both begin and end at the same places of 16-byte chunks.
inline bool alike(matrix const& x, matrix const& y, int element_bytes) {
  auto const place = [](matrix const& m) { return reinterpret_cast<std::uintptr_t>(m.data) % 16; };
  return place(x) == place(y) && (x.row_stride - y.row_stride) * element_bytes % 16 == 0;
}

template <class T, int Class, bool Shifted>
void launch_norm(norm_problem const& x, void* workspace, void* stream) {
  using op = norm<T, Class, Shifted>;
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
  a.weight_vector_width = row_vector_width(x.weight);
  a.bias_vector_width = row_vector_width(x.bias);
  a.weight_is_fp32 = (x.weight.data ? x.weight : x.bias).type == element::fp32;
  a.layer = x.kind == norm_kind::layer;
  if constexpr (Shifted) {
    auto const vector_width = [&](matrix const& m) {
      return alike(x.x, m, sizeof(T)) ? chunk_of<T> : 1;
    };
    a.x.vector_width = chunk_of<T>;
    a.residual.vector_width = vector_width(x.residual);
    a.y.vector_width = vector_width(x.y);
    a.r.vector_width = vector_width(x.r);
  }
  a.through_ring = op::has_ring;
  if constexpr (op::flat)
    if ((!Shifted && x.x.cols % chunk_of<T> != 0) || a.x.vector_width != chunk_of<T> ||
        (a.has_residual && a.residual.vector_width != chunk_of<T>))
      a.through_ring = false;
  a.rows = static_cast<int>(x.x.rows);
  a.width = static_cast<int>(x.x.cols);
  a.pieces = ceil_div(a.width + (Shifted ? chunk_of<T> - 1 : 0), op::span);
  a.pieces_fit_ring = a.through_ring && a.pieces * op::operands(a) <= op::stages;
  a.groups = ceil_div(a.rows, op::group);
  a.planned_tasks = std::min(a.groups, be::rt::multiprocessors() * be::norm_tasks_per_unit);
  a.planned = a.groups;
  if (workspace && a.groups >= op::late_share * a.planned_tasks) {
    a.planned -= a.groups / op::late_share;
    a.tickets = static_cast<unsigned*>(workspace);
  }
  a.eps = x.eps;
  a.columns = static_cast<float>(a.width);
  a.per_column = 1.f / a.columns;
  be::launch<op>(a, stream);
}

// The class of the narrowest tiles that hold a row. It follows the width alone, never the number of
// rows, so that a row has the same bits whatever rows are beside it.
template <class T, bool Shifted, int Class = 0>
void choose_norm(norm_problem const& x, void* workspace, void* stream) {
  if constexpr (Class < be::norm_classes) {
    if constexpr (!Shifted || be::norm_shifts(Class)) {
      int const most = norm<T, Class, Shifted>::span - (Shifted ? chunk_of<T> - 1 : 0);
      if (x.x.cols <= most) return launch_norm<T, Class, Shifted>(x, workspace, stream);
    }
    choose_norm<T, Shifted, Class + 1>(x, workspace, stream);
  } else {
    launch_norm<T, Class, Shifted>(x, workspace, stream);
  }
}

template <class T> void norm_run<T>::launch(norm_problem const& x, void* workspace, void* stream) {
  if constexpr (be::norm_shifts(be::norm_classes)) {
    tensor<T const> const rows{static_cast<T const*>(x.x.data), x.x.rows, x.x.cols, x.x.row_stride};
    if (x.x.cols % chunk_of<T> != 0 || vector_width_of(rows) != chunk_of<T>)
      return choose_norm<T, true>(x, workspace, stream);
  }
  choose_norm<T, false>(x, workspace, stream);
}

}  // namespace tk
