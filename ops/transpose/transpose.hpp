// SPDX-License-Identifier: MIT
// transpose: y[i, j, c, r] = x[i, j, r, c], bit for bit.
// Shapes    x[n0, n1, rows, cols], y[n0, n1, cols, rows]; any strides of all but columns, any
//           alignment. T stands for all elements of its size.
// Order     x and y are read and written once, tile by tile, whole chunks of both where rows allow
//           it (core/copy_transposed.hpp).
#pragma once
#include "backends/kernel.hpp"
#include "core/copy_transposed.hpp"
#include "core/schedule.hpp"
#include "ops/transpose/tuning.hpp"

namespace tk {

template <class T> struct transpose {
  static constexpr auto tune = be::tune_transpose(sizeof(T));
  static constexpr int workers = tune.workers, per_unit = tune.per_unit, cluster = 1, stages = 1,
                       own_slots = 1;
  static constexpr int R = tune.R, C = tune.C, rows = workers * R;
  struct stage {};
  struct own {};
  struct scratch {
    transposing_tile<T, R, C> tile;
  };
  struct args {
    tensor<T> y;
    tensor<T const> x;
    int y_vector_width, x_vector_width;
  };
  struct task {
    int row, col, i, j, steps;
  };

  static TK_BOTH int workers_of(args const&) { return workers; }
  static TK_BOTH int tiles_of_matrix(args const& a) {
    return ceil_div(static_cast<int>(a.x.rows), rows) * ceil_div(static_cast<int>(a.x.cols), C);
  }
  static TK_BOTH int tasks(args const& a) {
    return tiles_of_matrix(a) * static_cast<int>(a.x.n0 * a.x.n1);
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const across = ceil_div(static_cast<int>(a.x.cols), C), each = tiles_of_matrix(a);
    int const matrix = i / each, at = i % each, n1 = static_cast<int>(a.x.n1);
    return {at / across * rows, at % across * C, matrix / n1, matrix % n1, 0};
  }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    copy_transposed(c.w, c.scratch.tile, a.y, a.y_vector_width, a.x, a.x_vector_width,
                    t.row + c.w.id() * R, t.col, t.i, t.j);
  }
};

}  // namespace tk
