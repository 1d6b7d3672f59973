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

// Which rows are launched: those that were given, the joined ones, or pieces of these.
enum class element_rows { given, joined, pieces };
inline constexpr std::int64_t piece_of_row = 1024;
// Of rows that begin anywhere (not `whole`, which a single one is) each piece would, too.
inline element_rows choose_elements(std::int64_t width, std::int64_t outer, std::int64_t rows,
                                    bool whole) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - (1 << 16), long_row = 8192;
  bool const one_row = outer * rows == 1;
  if (width <= (one_row ? piece_of_row : long_row)) return element_rows::joined;
  if (!whole) return width <= most ? element_rows::joined : element_rows::given;
  bool const are_too_many = outer > 1 || rows > most / (width / piece_of_row);
  return are_too_many ? element_rows::given : element_rows::pieces;
}

// As launch_rows, in one launch or two.
template <class Op>
void launch_elements(row_problem<Op> const& given, void* workspace, void* stream) {
  static_assert(Op::vectors == 0 && column_sums_of<Op>() == 0 && row_values_of<Op>() == 0);
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
  std::int64_t const width = x.width, pieces = width / piece_of_row, rest = width % piece_of_row;
  bool const one_row = x.outer * x.middle * x.rows == 1;
  auto const chosen =
      choose_elements(width, x.outer, x.middle * x.rows, one_row || are_whole(joined));
  if (chosen == element_rows::joined) return launch_rows(joined, workspace, stream);
  if (chosen == element_rows::given) return launch_rows(given, workspace, stream);
  auto const launch_pieces = [&](std::int64_t first, std::int64_t rows, std::int64_t columns) {
    auto y = joined;
    for_each_operand(y, [&](row_tensor_view& m, std::size_t element_bytes) {
      take_pieces(m, first, rows, columns, static_cast<std::int64_t>(element_bytes));
    });
    launch_rows(y, workspace, stream);
  };
  launch_pieces(0, pieces, piece_of_row);
  if (rest > 0) launch_pieces(width - rest, 1, rest);
}

}  // namespace tk
