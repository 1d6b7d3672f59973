// SPDX-License-Identifier: MIT
// quantise by squares: as quantise.hpp, with a scale for each 128 x 128 elements of a matrix.
// Shapes    x, y[outer, middle, rows, width], scale[outer, middle, ceil(rows / 128),
//           ceil(width / 128)].
// Order     a block holds a square in registers, so that x is read once.
#pragma once
#include "core/block.hpp"
#include "core/fp8_scale.hpp"
#include "core/rows.hpp"
#include "ops/quantise/tuning.hpp"

namespace tk {

struct quantise_squares_args {
  void const* x;
  void* y;
  float* scale;
  // By matrices, these of two kinds, and rows or squares; scale's also by squares of columns.
  std::int64_t x_stride[3], y_stride[3], scale_stride[4];
  divisor columns, squares, middle;  // squares side by side, squares of a matrix; matrices
  int first, tasks;                  // matrix, of how many squares
  int rows, width, x_vector_width, y_vector_width, power_of_two;
};

template <class T, class F> struct quantise_squares {
  static constexpr int side = 128;
  static constexpr auto tune = be::tune_quantise_squares();
  static constexpr int workers = tune.workers, per_unit = tune.per_unit, cluster = 1, stages = 1,
                       own_slots = 1;
  // Rows of a square lie side by side in the rows of flat tiles, which a lane has some of.
  static constexpr int S = be::worker_lanes == 1 ? 1 : 8 * be::warp_lanes / side, N = S * side,
                       R = 8, tiles = side / (workers * R * S);
  static_assert(workers * tiles * R * S == side && rows_in_warps<R>);
  struct stage {};
  struct own {};
  struct scratch {
    row_exchange<1, true> exchange;
  };
  using args = quantise_squares_args;
  struct task {
    int i, j, row, column, steps;  // matrix (i, j); of squares
  };

  static TK_BOTH int tasks(args const& a) { return a.tasks; }
  static TK_BOTH task task_at(args const& a, int n, int) {
    auto const in_matrix = a.squares.of(n), in_row = a.columns.of(in_matrix.rest);
    auto const matrix = a.middle.of(a.first + in_matrix.quotient);
    return {matrix.quotient, matrix.rest, in_row.quotient, in_row.rest, 0};
  }
  static TK_BOTH int workers_of(args const&) { return workers; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto const steps = [&](auto const& stride) {
      return steps_of(t.i, stride[0]) + steps_of(t.j, stride[1]);
    };
    tensor<T const> const from{static_cast<T const*>(a.x) + steps(a.x_stride), a.rows, a.width,
                               a.x_stride[2]};
    tensor<F> const to{static_cast<F*>(a.y) + steps(a.y_stride), a.rows, a.width, a.y_stride[2]};
    int const row = t.row * side + c.w.id() * tiles * R * S, col = t.column * side;

    reg_tile<T, R, N> x[tiles];
    TK_UNROLL
    for (int i = 0; i < tiles; ++i) tk::load<S>(x[i], from, a.x_vector_width, row + i * R * S, col);
    reg_col<float, 1> most = 0.f;
    TK_UNROLL
    for (auto const& tile : x)
      for (float const e : row_share<larger>(map<counted_magnitude>(tile), 0.f).e)
        most.e[0] = be::max(most.e[0], e);
    int buffer = 0;
    auto const scale = fp8_scale<F>(row_total<larger, true>(c, most, buffer), a.power_of_two);
    rejoin<1, true>(c);
    if (c.w.id() == 0 && c.w.leader())
      a.scale[steps(a.scale_stride) + steps_of(t.row, a.scale_stride[2]) +
              steps_of(t.column, a.scale_stride[3])] = scale.e[0];
    float const inverse = 1.f / scale.e[0];
    TK_UNROLL
    for (int i = 0; i < tiles; ++i)
      store<S>(to, a.y_vector_width, row + i * R * S, col, saturating_cast<F>(x[i] * inverse));
  }
};

}  // namespace tk
