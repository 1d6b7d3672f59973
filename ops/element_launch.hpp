// SPDX-License-Identifier: MIT
// From the operands of an op whose elements depend on nothing but themselves to launches of
// core/row_kernel.hpp. Elements know of no rows, so that these are chosen here: what lies together
// in all operands is one row, and long rows are cut into pieces that fill the lanes of a class of
// every chip, and a rest.
#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "ops/row_launch.hpp"

namespace tk {

// Rows that lie one behind the other in all operands become one.
inline void join_rows(std::span<row_tensor_view* const> all) {
  for (int turn = 0; turn < 3; ++turn) {
    bool const lie_together = std::all_of(all.begin(), all.end(), [](row_tensor_view const* m) {
      return m->rows == 1 || m->row_stride == m->width;
    });
    if (!lie_together) return;
    for (auto* m : all) {
      m->width *= m->rows;
      m->rows = m->middle, m->row_stride = m->middle_stride;
      m->middle = m->outer, m->middle_stride = m->outer_stride;
      m->outer = 1, m->outer_stride = 0;
    }
  }
}

// `width` columns from `first` on, in `rows` rows of their own.
inline void take_pieces(row_tensor_view& m, std::int64_t first, std::int64_t rows,
                        std::int64_t width, std::int64_t element_bytes) {
  m.data = static_cast<char*>(m.data) + first * element_bytes;
  m.outer = m.middle, m.outer_stride = m.middle_stride;
  m.middle = m.rows, m.middle_stride = m.row_stride;
  m.rows = rows, m.row_stride = width;
  m.width = width;
}

// As launch_rows, in one launch or two.
template <class Op>
void launch_elements(row_problem<Op> const& given, void* workspace, void* stream) {
  static_assert(Op::vectors == 0 && column_sums_of<Op>() == 0 && row_values_of<Op>() == 0);
  constexpr std::int64_t piece = 1024, long_row = 8192;
  constexpr std::int64_t most_rows = std::numeric_limits<int>::max() - (1 << 16);
  // body(operand, bytes of its elements) for those that are there.
  auto const for_each_operand = [](row_problem<Op>& x, auto body) {
    for_each_index<Op::inputs>([&](auto i) {
      if (x.in[i].data) body(x.in[i], sizeof(typename Op::template input<i>));
    });
    for_each_index<Op::outputs>([&](auto i) {
      if (x.out[i].data) body(x.out[i], sizeof(typename Op::template output<i>));
    });
  };
  auto joined = given;
  std::array<row_tensor_view*, Op::inputs + Op::outputs> all;
  std::size_t count = 0;
  for_each_operand(joined, [&](row_tensor_view& m, std::size_t) { all[count++] = &m; });
  join_rows(std::span(all.data(), count));
  auto const& x = joined.in[0];
  std::int64_t const width = x.width, pieces = width / piece, rest = width % piece;
  bool const one_row = x.outer * x.middle * x.rows == 1;
  // Of rows that begin anywhere each piece would, too.
  if (width <= (one_row ? piece : long_row) || (!one_row && !are_whole(joined)))
    return launch_rows(joined, workspace, stream);
  if (x.outer > 1 || x.middle * x.rows > most_rows / pieces)
    return launch_rows(given, workspace, stream);
  auto const launch_pieces = [&](std::int64_t first, std::int64_t rows, std::int64_t columns) {
    auto y = joined;
    for_each_operand(y, [&](row_tensor_view& m, std::size_t element_bytes) {
      take_pieces(m, first, rows, columns, static_cast<std::int64_t>(element_bytes));
    });
    launch_rows(y, workspace, stream);
  };
  launch_pieces(0, pieces, piece);
  if (rest > 0) launch_pieces(width - rest, 1, rest);
}

}  // namespace tk
