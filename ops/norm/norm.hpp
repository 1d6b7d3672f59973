// SPDX-License-Identifier: MIT
// norm: r = x + residual;  layer: y = (r - mean) / sqrt(var + eps) w + b;  rms: y = r / sqrt(mean
// r^2 + eps) w + b, over each row.
// Shapes    x, residual, y, r[rows, width]; w, b[width] or absent; any sizes, any row stride.
// Numerics  mean and variance (biased) are of the fp32 sum r, before it is rounded to its type, and
//           so is y. The variance is of differences from the mean: a large mean does not hurt it.
//           Pieces of a long row are joined as in Chan, Golub and LeVeque, 1979.
// Order     a row belongs to one worker: repeatable bit for bit.
// Memory    rows of up to N columns stay in registers and are read once; of longer ones, every
//           piece of N columns is read again to be written. Tiles are flat (core/rows.hpp). Rows go
//           through the ring where its copies take them, else straight to registers.
#pragma once
#include "backends/kernel.hpp"
#include "core/rows.hpp"
#include "core/schedule.hpp"
#include "ops/problem.hpp"

namespace tk {

template <class T, int Class> struct norm {
  static constexpr auto tune = be::tune_norm(Class, sizeof(T));
  static constexpr bool has_ring = tune.stages > 0;
  static constexpr int workers = tune.workers, cluster = 1, stages = has_ring ? tune.stages : 1,
                       own_slots = 1, R = tune.R, N = tune.N, group = workers * R;
  using tile = reg_tile<float, R, N>;
  using column = reg_col<float, R>;

  struct rows_of_all {
    shared_vec<T, N> of[workers][R];
  };
  using stage = std::conditional_t<has_ring, rows_of_all, no_memory>;
  struct own {};
  struct scratch {
    [[no_unique_address]] row_parts<R> parts;
  };
  template <class E> struct operand_rows {
    tensor<E> of;  // data is null where there is none
    int granule;
  };
  struct args {
    operand_rows<T const> x, residual;
    operand_rows<T> y, r;
    void const *weight, *bias;
    int weight_granule, bias_granule;
    bool weight_is_fp32, layer, through_ring;
    int rows, width, pieces, groups, tasks;  // groups of `group` rows
    float eps;
  };
  struct task {
    int first, last, steps;  // groups
  };

  static TK_BOTH int tasks(args const& a) { return a.tasks; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const first = static_cast<int>(std::int64_t{a.groups} * i / a.tasks);
    int const last = static_cast<int>(std::int64_t{a.groups} * (i + 1) / a.tasks);
    return {first, last, a.through_ring ? (last - first) * steps_of_group(a) : 0};
  }
  // Of each piece x, then residual; long rows twice.
  static TK_BOTH int steps_of_group(args const& a) {
    return a.pieces * (a.pieces > 1 ? 2 : 1) * (a.residual.of.data ? 2 : 1);
  }

  static TK_DEVICE void load([[maybe_unused]] stage& s, [[maybe_unused]] args const& a,
                             [[maybe_unused]] task const& t, [[maybe_unused]] int step,
                             [[maybe_unused]] be::arrival done) {
    if constexpr (has_ring) {
      int const each = steps_of_group(a), operands = a.residual.of.data ? 2 : 1;
      int const in = step % each, col = in / operands % a.pieces * N;
      int const first = (t.first + step / each) * group;
      auto const& from = in % operands ? a.residual.of : a.x.of;
      for (int i = 0; i < group; ++i)
        if (first + i < a.rows)
          be::load_async(s.of[i / R][i % R], from.at(first + i, col), a.width - col, done);
    }
  }

  // r of this worker's R rows, columns from `col` on.
  template <class Context>
  static TK_DEVICE void read(tile& x, Context& c, args const& a, int row, int col) {
    reg_tile<T, R, N> p, q;
    bool const two = a.residual.of.data != nullptr;
    if (has_ring && a.through_ring) {
      if constexpr (has_ring) {
        tk::load(p, c.in.take().of[c.w.id()]);
        if (two) tk::load(q, c.in.take().of[c.w.id()]);
        c.w.sync();
        c.in.release();
        if (two) c.in.release();
      }
    } else {
      tk::load(p, a.x.of, a.x.granule, row, col);
      if (two) tk::load(q, a.residual.of, a.residual.granule, row, col);
    }
    if (two) x = p + q;
    else x = p * 1.f;
  }

  template <class W>
  static TK_DEVICE void read_row(reg_tile<W, 1, N>& x, void const* from, int granule, int width,
                                 int col) {
    tensor<W const> const row{static_cast<W const*>(from), 1, from ? width : 0, width};
    tk::load(x, row, granule, 0, col);
  }

  template <class W>
  static TK_DEVICE void write(tile& x, args const& a, int row, int col, column const& scale,
                              reg_tile<W, 1, N> const& weight, reg_tile<W, 1, N> const& bias) {
    x = x * scale;
    if (a.weight) x = x * weight;
    if (a.bias) x = x + bias;
    tk::store(a.y.of, a.y.granule, row, col, cast<T>(x));
  }

  // Takes the mean from x, whose columns from `cols` on stay 0, and returns it.
  template <class Context> static TK_DEVICE column centre(tile& x, Context& c, int cols) {
    column const mean = row_sum(c.w, x, c.scratch.parts) * (1.f / static_cast<float>(cols));
    x = x - mean;
    if (cols < N) keep_cols(x, cols, 0.f);
    return mean;
  }

  // The mean and the factor of rows that are longer than a tile.
  struct moments {
    column mean, scale;
  };
  template <class Context>
  static TK_DEVICE moments measure(tile& x, Context& c, args const& a, int row) {
    column mean = 0.f, squares = 0.f;
    for (int piece = 0; piece < a.pieces; ++piece) {
      int const seen = piece * N, cols = a.width - seen < N ? a.width - seen : N;
      read(x, c, a, row, seen);
      column const own_mean = a.layer ? centre(x, c, cols) : column(0.f);
      float const part = static_cast<float>(cols) / static_cast<float>(seen + cols);
      column const off = own_mean - mean;
      mean = mean + off * part;
      squares = squares + row_sum(c.w, x * x, c.scratch.parts) +
                off * off * (static_cast<float>(seen) * part);
    }
    return {mean, rsqrt(squares * (1.f / static_cast<float>(a.width)) + a.eps)};
  }

  template <class W, class Context>
  static TK_DEVICE void run(Context& c, args const& a, task const& t) {
    constexpr bool hold = tune.hold && sizeof(W) == 2;
    tile x;
    reg_tile<W, 1, N> weight, bias;
    auto const read_scale = [&](int col) {
      read_row(weight, a.weight, a.weight_granule, a.width, col);
      read_row(bias, a.bias, a.bias_granule, a.width, col);
    };
    if (hold && a.pieces == 1) read_scale(0);
    for (int step = t.first; step < t.last; ++step) {
      int const row = step * group + c.w.id() * R;
      if (a.pieces == 1) {
        read(x, c, a, row, 0);
        if (a.r.of.data) tk::store(a.r.of, a.r.granule, row, 0, cast<T>(x));
        if (a.layer) centre(x, c, a.width);
        column const mean_square =
            row_sum(c.w, x * x, c.scratch.parts) * (1.f / static_cast<float>(a.width));
        if (!hold) read_scale(0);
        write(x, a, row, 0, rsqrt(mean_square + a.eps), weight, bias);
      } else {
        moments const m = measure(x, c, a, row);
        for (int piece = 0; piece < a.pieces; ++piece) {
          read(x, c, a, row, piece * N);
          if (a.r.of.data) tk::store(a.r.of, a.r.granule, row, piece * N, cast<T>(x));
          x = x - m.mean;
          read_scale(piece * N);
          write(x, a, row, piece * N, m.scale, weight, bias);
        }
      }
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (a.weight_is_fp32) run<float>(c, a, t);
    else run<T>(c, a, t);
  }
};

}  // namespace tk
