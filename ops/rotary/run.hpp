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

// The columns of x that are rotated, to those of y.
template <class T, class C>
row_problem<rotary_halves<T, C>> rotated(rotary_halves<T, C>*, row_tensor_view const& x,
                                         row_tensor_view const& y, std::int64_t w) {
  return {{},
          {columns_of<T>(x, 0, w), columns_of<T>(x, w, w)},
          {columns_of<T>(y, 0, w), columns_of<T>(y, w, w)}};
}
template <class T, class C>
row_problem<rotary_pairs<T, C>> rotated(rotary_pairs<T, C>*, row_tensor_view const& x,
                                        row_tensor_view const& y, std::int64_t w) {
  return {{}, {columns_of<T>(x, 0, 2 * w)}, {columns_of<T>(y, 0, 2 * w)}};
}
template <class Op>
row_problem<Op> rotated_rows(rotary_problem const& problem, row_tensor_view const& x,
                             row_tensor_view const& y) {
  if (!x.data || x.outer * x.middle * x.rows == 0) return {};
  auto rows = rotated(static_cast<Op*>(nullptr), x, y, problem.cos.width);
  auto const& numbers = problem.numbers;
  bool const numbered = numbers.data != nullptr;
  rows.op = {divisor(static_cast<std::uint32_t>(x.rows)),
             divisor(static_cast<std::uint32_t>(x.middle)), problem.are_offsets,
             problem.inverse ? -1.f : 1.f};
  for (int i = 0; i < 2; ++i) {
    auto const& table = i == 0 ? problem.cos : problem.sin;
    int const input = Op::inputs - 2 + i;
    rows.in[input] = angles_of(table, x, numbered);
    if (numbered) rows.tables[input] = {table.rows, table.row_stride};
  }
  if (numbered) {
    rows.values[0] = x;
    rows.values[0].data = numbers.data;
    rows.values[0].type = numbers.type;
    rows.values[0].width = 1;
    rows.values[0].outer_stride = numbers.outer_stride;
    rows.values[0].middle_stride = numbers.middle_stride;
    rows.values[0].row_stride = 0;
  }
  return rows;
}

// Of q and k, those that there are.
template <class Op>
void launch_both(row_problem<Op> const& q, row_problem<Op> const& k, void* workspace,
                 void* stream) {
  if (q.in[0].data) launch_rows(q, k, workspace, stream);
  else if (k.in[0].data) launch_rows(k, q, workspace, stream);
}

template <class T, class C>
void rotary_run<T, C>::launch(rotary_problem const& problem, void* workspace, void* stream) {
  auto const rotate = [&]<class Op>(Op*) {
    launch_both(rotated_rows<Op>(problem, problem.q, problem.q_out),
                rotated_rows<Op>(problem, problem.k, problem.k_out), workspace, stream);
  };
  auto const w = problem.cos.width;
  if (w > 0 && problem.interleaved) rotate(static_cast<rotary_pairs<T, C>*>(nullptr));
  else if (w > 0) rotate(static_cast<rotary_halves<T, C>*>(nullptr));
  auto const rest_of = [&](row_tensor_view const& x,
                           row_tensor_view const& y) -> row_problem<rotary_rest<T>> {
    auto const rest = x.width - 2 * w;
    if (rest == 0 || !x.data || x.data == y.data || x.outer * x.middle * x.rows == 0) return {};
    return {{}, {columns_of<T>(x, 2 * w, rest)}, {columns_of<T>(y, 2 * w, rest)}};
  };
  launch_both(rest_of(problem.q, problem.q_out), rest_of(problem.k, problem.k_out), workspace,
              stream);
}

}  // namespace tk
