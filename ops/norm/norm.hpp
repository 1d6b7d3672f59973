// SPDX-License-Identifier: MIT
// norm: r = x + residual;  layer: y = (r - mean) / sqrt(var + eps) w + b;  rms: y = r / sqrt(mean
// r^2 + eps) w + b, over each row.
// Shapes    x, residual, y, r[rows, width]; w, b[width] or absent; any sizes, any row stride.
// Numerics  mean and variance (biased) are of the fp32 sum r, before it is rounded to its type, and
//           so is y. The variance is of differences from the mean: a large mean does not hurt it.
//           That of equal numbers is exact where their sum is, and their differences are 0.
// Order     a row belongs to one worker, or to the workers of one block: repeatable bit for bit.
// Memory    Class says how wide the tiles are. Rows that fit into them stay in registers and are
//           read once. The last class takes rows of any length piece by piece, as often as there
//           are passes over a row; where the ring holds all pieces, they are read from it. Tiles
//           are flat (core/rows.hpp), ordinary ones for short rows. Flat rows go through the ring
//           where its copies take them, else straight to registers. Rows that do not begin and end
//           at multiples of 16 bytes are Shifted: a tile's columns begin at the boundary before the
//           row.
#pragma once
#include "backends/kernel.hpp"
#include "core/rows.hpp"
#include "core/schedule.hpp"
#include "ops/norm/problem.hpp"
#include "ops/norm/tuning.hpp"

namespace tk {

// The memory of rows; data is null where there is none.
template <class T> struct flat_operand {
  tensor<T> of;
  int vector_width;
};

template <class T, int Class, bool Shifted> struct norm {
  static constexpr auto tune = be::tune_norm(Class, sizeof(T));
  static constexpr bool shared = tune.shared, is_long = Class == be::norm_classes;
  // Where rows are shifted, a lane has one of them, and one shift; tiles have room for it.
  static constexpr int R = !Shifted ? tune.R : rows_in_warps<tune.R> ? be::worker_warps : 1;
  static constexpr int N = tune.N + (Shifted && shared && !is_long ? 1024 : 0);
  static constexpr int slots = tune.stages * tune.N / N;
  // x and residual are in slots of their own, held at once.
  static constexpr bool flat = is_flat<R>, has_ring = slots > 1;
  static constexpr int workers = tune.workers, cluster = 1, stages = has_ring ? slots : 1,
                       own_slots = 1;
  static_assert(flat || (has_ring && !shared), "ordinary tiles go through the ring");
  static constexpr int group = shared ? R : workers * R;  // rows of a step
  static constexpr int span = shared ? workers * N : N;   // and columns
  // Columns that are written at once: of whole rows, as many as registers hold.
  static constexpr int V = !flat || whole_rows ? 64 : N < 1024 ? N : 1024;
  using tile = reg_tile<float, R, N>;
  using column = reg_col<float, R>;

  using input = std::conditional_t<flat, flat_operand<T const>, be::source<T, R, N>>;
  using output = std::conditional_t<flat, flat_operand<T>, be::sink<T, R, V>>;
  struct flat_rows {
    shared_vec<T, N> of[workers][R];
  };
  struct tiles {
    shared_tile<T, R, N> of[workers];
  };
  using stage =
      std::conditional_t<!has_ring, no_memory, std::conditional_t<flat, flat_rows, tiles>>;
  struct own {};
  struct scratch {
    [[no_unique_address]] row_exchange<R, shared> exchange;
    [[no_unique_address]] std::conditional_t<flat, no_memory, shared_tile<T, R, V>[2]> out;
  };
  struct args {
    input x, residual;
    output y, r;
    void const *weight, *bias;
    int weight_vector_width, bias_vector_width;
    int weight_is_fp32, layer, has_residual, stores_r, through_ring,
        pieces_fit_ring;              // flags, but words
    int rows, width, pieces, groups;  // groups of `group` rows
    int planned, planned_tasks;       // groups that the first tasks share; the rest is dealt late
    unsigned* tickets;                // null where nothing is
    float eps, columns, per_column;   // columns: the width; per_column: 1 / columns
  };
  struct task {
    int first, last, by, steps;  // groups
  };

  // Multiprocessors that all wait for memory don't get equal shares of it: some groups are dealt
  // late, a few at a time, to those that are done.
  static constexpr int late_share = 16, late_groups = 4;  // one group in 16; by tasks of 4
  static TK_BOTH int tasks(args const& a) {
    return a.planned_tasks + ceil_div(a.groups - a.planned, late_groups);
  }
  // Of the planned tasks, groups lie side by side (by 1), or tasks take them in turn.
  static TK_BOTH task task_at(args const& a, int i, int) {
    task t{i, a.planned, a.planned_tasks, 0};
    if (int const late = i - a.planned_tasks; late >= 0) {
      int const first = a.planned + late * late_groups, last = first + late_groups;
      t = {first, last < a.groups ? last : a.groups, 1, 0};
    } else if constexpr (!be::norm_in_turn) {
      t.first = static_cast<int>(std::int64_t{a.planned} * i / a.planned_tasks);
      t.last = static_cast<int>(std::int64_t{a.planned} * (i + 1) / a.planned_tasks);
      t.by = 1;
    }
    if (a.through_ring) t.steps = ceil_div(t.last - t.first, t.by) * steps_of_group(a);
    return t;
  }
  static TK_BOTH int pieces(args const& a) { return is_long ? a.pieces : 1; }
  static TK_BOTH int operands(args const& a) { return a.has_residual ? 2 : 1; }
  // Of each piece x, then residual.
  static TK_BOTH int steps_of_group(args const& a) {
    int const passes = !is_long || a.pieces_fit_ring ? 1 : a.layer ? 3 : 2;
    return passes * pieces(a) * operands(a);
  }
  // A worker's part of a group.
  static TK_BOTH int row_of(int group, int worker) {
    return group * norm::group + (shared ? 0 : worker * R);
  }
  static TK_BOTH int col_of(int piece, int worker) {
    return piece * span + (shared ? worker * N : 0);
  }

  static TK_DEVICE void load([[maybe_unused]] stage& s, [[maybe_unused]] args const& a,
                             [[maybe_unused]] task const& t, [[maybe_unused]] int step,
                             [[maybe_unused]] be::arrival done) {
    if constexpr (has_ring) {
      int const each = steps_of_group(a), in = step % each, piece = in / operands(a) % pieces(a);
      int const group = t.first + step / each * t.by;
      auto const& from = in % operands(a) ? a.residual : a.x;
      for (int w = 0; w < workers; ++w) {
        int const row = row_of(group, w);
        if constexpr (flat) load_async(s.of[w], from.of, row, col_of(piece, w), done);
        else load_async(s.of[w], window(from, row), done);
      }
    }
  }

  // This worker's rows of x or residual, columns from `col` on: from the n-th slot held, from the
  // next to be taken where n is below 0.
  template <class Context>
  static TK_DEVICE void read(reg_tile<T, R, N>& x, Context& c, args const& a, input const& from,
                             int row, int col, int n) {
    if constexpr (has_ring) {
      if (a.through_ring) {
        auto const& s = n < 0 ? c.in.take() : c.in.peek(n);
        if constexpr (!flat) return tk::load(x, s.of[c.w.id()]);
        else if constexpr (Shifted) return tk::load(x, s.of[c.w.id()], from.of, row, col);
        else return tk::load(x, s.of[c.w.id()], a.width - col);
      }
    }
    if constexpr (flat) tk::load(x, from.of, from.vector_width, row, col);
  }
  // r, in the same way.
  template <class Context>
  static TK_DEVICE void read(tile& r, Context& c, args const& a, int row, int col, int n = -1) {
    if constexpr (!has_ring) {
      tk::load(r, a.x.of, a.x.vector_width, row, col);
      if (a.has_residual) load_add(r, a.residual.of, a.residual.vector_width, row, col);
    } else {
      reg_tile<T, R, N> x;
      read(x, c, a, a.x, row, col, n);
      r = x * 1.f;
      if (!a.has_residual) return;
      read(x, c, a, a.residual, row, col, n < 0 ? n : n + 1);
      r = r + x;
    }
  }
  // All lanes of the worker have read: the oldest slots go back.
  template <class Context> static TK_DEVICE void release(Context& c, args const& a) {
    if (!has_ring || !a.through_ring) return;
    c.in.release();
    if (a.has_residual) c.in.release();
  }
  // The part-th V columns of this worker's, which begin at `col`.
  template <class Context, class X>
  static TK_DEVICE void write(output const& y, Context& c, int row, int col, int part, X const& x) {
    if constexpr (flat) store(y.of, y.vector_width, row, col + part * V, x);
    else store_async(c.w, window(y, row, part * V), x, c.scratch.out, part);
  }
  template <class Context>
  static TK_DEVICE void write_r(tile const& x, Context& c, args const& a, int row, int col) {
    if (!a.stores_r) return;
    TK_UNROLL
    for (int p = 0; p < N / V; ++p) write(a.r, c, row, col, p, cast<T>(columns<V>(x, p)));
  }

  // V columns of weight and bias.
  template <class W> struct scales {
    reg_row<W, R, V> weight{}, bias{};
    // For rows from `row` on: none of them, none of these.
    TK_DEVICE void read(args const& a, int row, int col) {
      int const cols = row < a.rows ? a.width : 0;
      if (a.weight)
        tk::load(weight, static_cast<W const*>(a.weight), cols, a.weight_vector_width, col);
      if (a.bias) tk::load(bias, static_cast<W const*>(a.bias), cols, a.bias_vector_width, col);
    }
  };

  // `scale_at(part)` gives the scales of V columns.
  template <class Context, class At>
  static TK_DEVICE void write_scaled(tile const& x, Context& c, args const& a, int row, int col,
                                     column const& factor, At scale_at) {
    TK_UNROLL
    for (int p = 0; p < N / V; ++p) {
      auto const& scale = scale_at(p);
      if constexpr (whole_rows) {  // at once: what lies between two passes is memory
        auto const put = [&](auto&& y) __attribute__((always_inline)) {
          write(a.y, c, row, col, p, cast<T>(std::move(y)));
        };
        if (a.weight && a.bias) put(columns<V>(x, p) * factor * scale.weight + scale.bias);
        else if (a.weight) put(columns<V>(x, p) * factor * scale.weight);
        else if (a.bias) put(columns<V>(x, p) * factor + scale.bias);
        else put(columns<V>(x, p) * factor);
        continue;
      }
      reg_tile<float, R, V> y = columns<V>(x, p);
      y = y * factor;
      if (a.weight) y = y * scale.weight;
      if (a.bias) y = y + scale.bias;
      write(a.y, c, row, col, p, cast<T>(y));
    }
  }

  // x, columns from `col` on, less the mean; what is outside the row stays 0.
  static TK_DEVICE void centre(tile& x, args const& a, column const& mean, int col) {
    x = x - mean;
    if constexpr (Shifted) keep_cols(x, -col, a.width - col, 0.f);
    else if (a.width - col < N) keep_cols(x, a.width - col, 0.f);
  }
  // Where the columns of this lane's row begin.
  static TK_DEVICE int col_at(args const& a, int row, int piece, int worker) {
    int const col = col_of(piece, worker);
    if constexpr (Shifted) return col - lane_shift<R>(a.x.of, row);
    else return col;
  }
  static TK_DEVICE column factor(args const& a, column const& squares) {
    return rsqrt(squares * a.per_column + a.eps);
  }

  template <class W, class Context>
  static TK_DEVICE void run_short(Context& c, args const& a, task const& t) {
    constexpr bool hold = !Shifted && tune.hold >= static_cast<int>(sizeof(W));
    [[maybe_unused]] scales<W> kept[hold ? N / V : 1];
    if constexpr (hold) {
      TK_UNROLL
      for (int p = 0; p < N / V; ++p) kept[p].read(a, 0, col_of(0, c.w.id()) + p * V);
    }
    tile x;
    int buffer = 0;
    for (int group = t.first; group < t.last; group += t.by) {
      int const row = row_of(group, c.w.id()), col = col_at(a, row, 0, c.w.id());
      read(x, c, a, row, col);
      if constexpr (!rows_cross_warps<R, shared>) {
        c.w.sync();
        release(c, a);
      }
      write_r(x, c, a, row, col);
      if (a.layer) {
        column const sum = row_sum<shared>(c, x, buffer);
        centre(x, a, quotient(sum, a.columns, a.per_column), col);
      }
      column const scale = factor(a, row_sum<shared>(c, x * x, buffer));
      if constexpr (rows_cross_warps<R, shared>) release(c, a);
      write_scaled(x, c, a, row, col, scale, [&](int p) -> decltype(auto) {
        if constexpr (hold) {
          return (kept[p]);
        } else {
          scales<W> scale;
          scale.read(a, row, col + p * V);
          return scale;
        }
      });
    }
    rejoin<R, shared>(c);
  }

  // The pieces of a row, in one of several passes: body(col, take), in which take(x) reads the
  // piece from column `col` on.
  enum class pass { first, middle, last };
  template <class Context, class Body>
  static TK_DEVICE void for_each_piece(Context& c, args const& a, int row, pass which, Body body) {
    bool const take = !a.pieces_fit_ring || which == pass::first,
               last = !a.pieces_fit_ring || which == pass::last;
    for (int piece = 0; piece < a.pieces; ++piece) {
      int const col = col_at(a, row, piece, c.w.id());
      body(col, [&](tile& x) {
        read(x, c, a, row, col, take ? -1 : last ? 0 : piece * operands(a));
        if (!last) return;
        c.w.sync();
        release(c, a);
      });
    }
  }
  template <class W, class Context>
  static TK_DEVICE void run_long(Context& c, args const& a, task const& t) {
    int buffer = 0;
    tile x;
    for (int group = t.first; group < t.last; group += t.by) {
      int const row = row_of(group, c.w.id());
      column mean = 0.f, squares = 0.f;
      if (a.layer) {
        for_each_piece(c, a, row, pass::first, [&](int, auto take) {
          take(x);
          mean = mean + row_sum_share(x * 1.f);
        });
        mean = quotient(total<shared>(c, mean, buffer), a.columns, a.per_column);
      }
      for_each_piece(c, a, row, a.layer ? pass::middle : pass::first, [&](int col, auto take) {
        take(x);
        if (a.layer) centre(x, a, mean, col);
        squares = squares + row_sum_share(x * x);
      });
      column const scale = factor(a, total<shared>(c, squares, buffer));
      for_each_piece(c, a, row, pass::last, [&](int col, auto take) {
        scales<W> scales_of[N / V];  // all at once: they come from far
        TK_UNROLL
        for (int p = 0; p < N / V; ++p) scales_of[p].read(a, row, col + p * V);
        take(x);
        write_r(x, c, a, row, col);
        if (a.layer) x = x - mean;
        write_scaled(x, c, a, row, col, scale,
                     [&](int p) -> decltype(auto) { return (scales_of[p]); });
      });
    }
    rejoin<R, shared>(c);
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
