// SPDX-License-Identifier: MIT
// norm: r = x + residual;  layer: y = (r - mean) / sqrt(var + eps) w + b;  rms: y = r / sqrt(mean
// r^2 + eps) w + b, over each row.
// Shapes    x, residual, y, r[rows, width]; w, b[width] or absent; any sizes, any row stride.
// Numerics  mean and variance (biased) are of the fp32 sum r, before it is rounded to its type, and
//           so is y. The variance is of differences from the mean: a large mean does not hurt it.
//           Pieces of a long row are joined as in Chan, Golub and LeVeque, 1979.
// Order     a row belongs to one worker: repeatable bit for bit.
// Memory    Class says how long rows may be: they stay in registers and are read once. The last
//           class takes rows of any length, in pieces of N columns that are read twice. Tiles are
//           flat (core/rows.hpp). Rows go through the ring where its copies take them, else
//           straight to registers.
#pragma once
#include "backends/kernel.hpp"
#include "core/rows.hpp"
#include "core/schedule.hpp"
#include "ops/problem.hpp"

namespace tk {

template <class T, int Class> struct norm {
  static constexpr auto tune = be::tune_norm(Class, sizeof(T));
  static constexpr bool has_ring = tune.stages > 0, is_long = Class == be::norm_classes;
  static constexpr int workers = tune.workers, cluster = 1, stages = has_ring ? tune.stages : 1,
                       own_slots = 1, R = tune.R, N = tune.N, group = workers * R;
  static constexpr int V = N < 1024 ? N : 1024;  // columns that are written at once
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
    return a.pieces * (is_long ? 2 : 1) * (a.residual.of.data ? 2 : 1);
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

  // V columns of weight and bias.
  template <class W> struct scales {
    reg_tile<W, 1, V> weight{}, bias{};
    // For rows from `row` on: none of them, none of these.
    TK_DEVICE void read(args const& a, int row, int col) {
      int const width = row < a.rows ? a.width : 0;
      if (a.weight) read_row(weight, a.weight, a.weight_granule, width, col);
      if (a.bias) read_row(bias, a.bias, a.bias_granule, width, col);
    }
    static TK_DEVICE void read_row(reg_tile<W, 1, V>& x, void const* from, int granule, int width,
                                   int col) {
      tk::load(x, tensor<W const>{static_cast<W const*>(from), 1, width, width}, granule, 0, col);
    }
  };

  // `scale_at(part)` gives the scales of V columns.
  template <class At>
  static TK_DEVICE void write(tile const& x, args const& a, int row, int col, column const& factor,
                              At scale_at) {
    TK_UNROLL
    for (int p = 0; p < N / V; ++p) {
      auto const& scale = scale_at(p);
      reg_tile<float, R, V> y = columns<V>(x, p);
      y = y * factor;
      if (a.weight) y = y * scale.weight;
      if (a.bias) y = y + scale.bias;
      tk::store(a.y.of, a.y.granule, row, col + p * V, cast<T>(y));
    }
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
  static TK_DEVICE void run_short(Context& c, args const& a, task const& t) {
    constexpr bool hold = tune.hold && sizeof(W) == 2;
    [[maybe_unused]] scales<W> held[hold ? N / V : 1];
    if constexpr (hold) {
      TK_UNROLL
      for (int p = 0; p < N / V; ++p) held[p].read(a, 0, p * V);
    }
    tile x;
    for (int step = t.first; step < t.last; ++step) {
      int const row = step * group + c.w.id() * R;
      read(x, c, a, row, 0);
      if (a.r.of.data) tk::store(a.r.of, a.r.granule, row, 0, cast<T>(x));
      if (a.layer) centre(x, c, a.width);
      column const mean_square =
          row_sum(c.w, x * x, c.scratch.parts) * (1.f / static_cast<float>(a.width));
      write(x, a, row, 0, rsqrt(mean_square + a.eps), [&](int p) -> decltype(auto) {
        if constexpr (hold) {
          return (held[p]);
        } else {
          scales<W> scale;
          scale.read(a, row, p * V);
          return scale;
        }
      });
    }
  }
  template <class W, class Context>
  static TK_DEVICE void run_long(Context& c, args const& a, task const& t) {
    tile x;
    for (int step = t.first; step < t.last; ++step) {
      int const row = step * group + c.w.id() * R;
      moments const m = measure(x, c, a, row);
      for (int col = 0; col < a.width; col += N) {
        read(x, c, a, row, col);
        if (a.r.of.data) tk::store(a.r.of, a.r.granule, row, col, cast<T>(x));
        if (a.layer) x = x - m.mean;
        write(x, a, row, col, m.scale, [&](int p) {
          scales<W> scale;
          scale.read(a, row, col + p * V);
          return scale;
        });
      }
    }
  }
  template <class W, class Context>
  static TK_DEVICE void run(Context& c, args const& a, task const& t) {
    if constexpr (is_long) run_long<W>(c, a, t);
    else run_short<W>(c, a, t);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (a.weight_is_fp32) run<float>(c, a, t);
    else run<T>(c, a, t);
  }
};

}  // namespace tk
