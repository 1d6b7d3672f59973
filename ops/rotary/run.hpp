// SPDX-License-Identifier: MIT
// From a checked problem to launches of rotary: of q, and of k. rotary_run<T, C> is instantiated
// once for each row of ops/rotary/rotary.cmake; ops/rotary/rotary.cpp chooses among them.
#pragma once
#include "ops/rotary/problem.hpp"
#include "ops/rotary/rotary.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T, class C> struct rotary_run {
  static void launch(rotary_problem const& x, void* workspace, void* stream);
};

// `width` columns of x from `first` on.
template <class T>
row_tensor_view columns_of(row_tensor_view x, std::int64_t first, std::int64_t width) {
  x.data = static_cast<T*>(x.data) + first;
  x.width = width;
  return x;
}

// A table of angles as rows of x: row i for token i, or what numbers say.
inline row_tensor_view angles_of(row_tensor_view const& table, row_tensor_view const& x,
                                 bool numbered) {
  auto y = x;
  y.data = table.data;
  y.type = table.type;
  y.width = table.width;
  y.outer_stride = y.row_stride = 0;
  y.middle_stride = numbered ? 0 : table.row_stride;
  return y;
}

template <class Op>
void launch_rotated(row_problem<Op> y, rotary_problem const& problem, row_tensor_view const& x,
                    int first_table, void* workspace, void* stream) {
  auto const& numbers = problem.numbers;
  bool const numbered = numbers.data != nullptr;
  y.op = {divisor(static_cast<std::uint32_t>(x.rows)),
          divisor(static_cast<std::uint32_t>(x.middle)), problem.are_offsets,
          problem.inverse ? -1.f : 1.f};
  for (int i = 0; i < 2; ++i) {
    auto const& table = i == 0 ? problem.cos : problem.sin;
    y.in[first_table + i] = angles_of(table, x, numbered);
    if (numbered) y.tables[first_table + i] = {table.rows, table.row_stride};
  }
  if (numbered) {
    y.values[0] = x;
    y.values[0].data = numbers.data;
    y.values[0].type = numbers.type;
    y.values[0].width = 1;
    y.values[0].outer_stride = numbers.outer_stride;
    y.values[0].middle_stride = numbers.middle_stride;
    y.values[0].row_stride = 0;
  }
  launch_rows(y, workspace, stream);
}

template <class T, class C>
void rotary_run<T, C>::launch(rotary_problem const& problem, void* workspace, void* stream) {
  auto const rotate = [&](row_tensor_view const& x, row_tensor_view const& y) {
    if (x.outer * x.middle * x.rows == 0) return;
    auto const w = problem.cos.width, rest = x.width - 2 * w;
    if (w > 0 && problem.interleaved) {
      row_problem<rotary_pairs<T, C>> rows{
          {}, {columns_of<T>(x, 0, 2 * w)}, {columns_of<T>(y, 0, 2 * w)}};
      launch_rotated(rows, problem, x, 1, workspace, stream);
    } else if (w > 0) {
      row_problem<rotary_halves<T, C>> rows{{},
                                            {columns_of<T>(x, 0, w), columns_of<T>(x, w, w)},
                                            {columns_of<T>(y, 0, w), columns_of<T>(y, w, w)}};
      launch_rotated(rows, problem, x, 2, workspace, stream);
    }
    if (rest > 0 && x.data != y.data)
      launch_rows<rotary_rest<T>>(
          {{}, {columns_of<T>(x, 2 * w, rest)}, {columns_of<T>(y, 2 * w, rest)}}, workspace,
          stream);
  };
  rotate(problem.q, problem.q_out);
  if (problem.k.data) rotate(problem.k, problem.k_out);
}

}  // namespace tk
