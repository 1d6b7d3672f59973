// SPDX-License-Identifier: MIT
// From a checked problem to launches of add. add_run<A, Y> is instantiated once for each row of
// ops/add/add.cmake; ops/add/add.cpp chooses among them. Elements know of no rows, so that the op
// chooses its own: what lies together in all operands is one row, and long rows are cut into pieces
// that fill the lanes of a class of every chip, and a rest.
#pragma once
#include <algorithm>
#include <array>

#include "ops/add/add.hpp"
#include "ops/add/problem.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class A, class Y> struct add_run {
  static void launch(add_problem const& x, void* workspace, void* stream);
};

using add_operands = std::array<row_tensor_view, 3>;  // a, b, y, of the same sizes; b or absent

// Rows that lie one behind the other in all operands become one.
inline void join_rows(add_operands& all) {
  for (int turn = 0; turn < 3; ++turn) {
    bool const lie_together = std::all_of(all.begin(), all.end(), [](row_tensor_view const& m) {
      return !m.data || m.rows == 1 || m.row_stride == m.width;
    });
    if (!lie_together) return;
    for (auto& m : all) {
      m.width *= m.rows;
      m.rows = m.middle, m.row_stride = m.middle_stride;
      m.middle = m.outer, m.middle_stride = m.outer_stride;
      m.outer = 1, m.outer_stride = 0;
    }
  }
}

// `width` columns from `first` on, in `rows` rows of their own.
inline void take_pieces(row_tensor_view& m, std::int64_t first, std::int64_t rows,
                        std::int64_t width, std::int64_t element_bytes) {
  if (!m.data) return;
  m.data = static_cast<char*>(m.data) + first * element_bytes;
  m.outer = m.middle, m.outer_stride = m.middle_stride;
  m.middle = m.rows, m.middle_stride = m.row_stride;
  m.rows = rows, m.row_stride = width;
  m.width = width;
}

template <class A, class Y>
void add_run<A, Y>::launch(add_problem const& x, void* workspace, void* stream) {
  constexpr std::int64_t piece = 1024, long_row = 8192;
  constexpr std::int64_t most_rows = std::numeric_limits<int>::max() - (1 << 16);
  auto const run = [&](add_operands const& all) {
    launch_rows<scaled_sum<A, Y>>({{x.alpha, x.b.data ? -x.beta : 0.f}, {all[0], all[1]}, {all[2]}},
                                  workspace, stream);
  };
  add_operands const given{x.a, x.b, x.y};
  auto joined = given;
  join_rows(joined);
  auto const& y = joined[2];
  std::int64_t const width = y.width, pieces = width / piece, rest = width % piece;
  bool const one_row = y.outer * y.middle * y.rows == 1;
  if (width <= (one_row ? piece : long_row)) return run(joined);
  if (y.outer > 1 || y.middle * y.rows > most_rows / pieces) return run(given);
  auto const of_pieces = [&](std::int64_t first, std::int64_t rows, std::int64_t columns) {
    auto all = joined;
    take_pieces(all[0], first, rows, columns, sizeof(A));
    take_pieces(all[1], first, rows, columns, sizeof(Y));
    take_pieces(all[2], first, rows, columns, sizeof(Y));
    run(all);
  };
  of_pieces(0, pieces, piece);
  if (rest > 0) of_pieces(width - rest, 1, rest);
}

}  // namespace tk
