// SPDX-License-Identifier: MIT
// A step of decoding: one token of each sequence of a batch,
//           S' = a S + k^T w v,   o = scale q S'
// with the weight w, share of v and gate of a family that weighs (chunk_scan.hpp). States are read
// and written once, as they lie in memory.
// Shapes    as chunk_scan.hpp's, n = 1.
// Numerics  fp32; o is rounded once, weights and states are not.
// Order     a task has 64 columns of v of a head, which no other task's depend on. A lane adds up
//           what it has read, then the lanes' sums are added in order.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/schedule.hpp"
#include "ops/linear_attention/chunk_scan_sizes.hpp"
#include "ops/linear_attention/typed_states.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T, class Family> struct token_step {
  static constexpr int workers = 1, per_unit = 8, cluster = 1, stages = 1, own_slots = 1;
  static constexpr int longest = 256, W = 64, n = 4;  // of q and k; columns of a task; in 16 bytes
  // So many lanes lie side by side along a row, 16 bytes of each, and below one another.
  static constexpr int across = W / n < be::worker_lanes ? W / n : be::worker_lanes,
                       down = be::worker_lanes / across, pieces = W / n / across;
  static constexpr int at_once = 8;  // loads on their way, of 16 bytes
  static_assert(W % down == 0 && W / n % across == 0);
  struct args {
    tensor<T const> q, k, v, gate;
    tensor<T> o;
    decay_table decays;  // data may be null, and so may what follows
    float const *weights, *skip;
    int C, b, h, d, columns;
    head_shares shares;
    tensor<float const> initial;
    tensor<float> final;
    bool transposed, whole;  // states are [.., columns of v, columns of k]; in runs of 16 bytes
    float scale, initial_scale, final_scale;
  };
  struct stage {};
  struct own {};
  struct scratch {
    float q[longest], k[longest], v[W];
    float sums[W * (across > down ? across : down)];  // of each column, of lanes
  };
  struct task {
    int sequence, head, col, steps;
  };

  static TK_BOTH int workers_of(args const&) { return workers; }
  static TK_BOTH int parts(args const& a) { return ceil_div(a.columns, W); }
  static TK_BOTH int tasks(args const& a) { return a.b * a.h * parts(a); }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const all = parts(a);
    return {i / (all * a.h), i / all % a.h, i % all * W, 0};
  }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto& x = c.scratch;
    int const lane = c.w.lane(), left = a.columns - t.col, columns = left < W ? left : W;
    auto const place = a.decays.row(t.sequence, t.head, a.h, a.C);
    float const decay = a.decays.data ? be::exp2(a.decays.data[place]) : 1.f,
                weight = a.weights ? a.weights[place] : 1.f;
    int const q_head = t.head / a.shares.q, k_head = t.head / a.shares.k,
              v_head = t.head / a.shares.v;
    for (int i = lane; i < a.d; i += be::worker_lanes) {
      x.q[i] = be::widen(*a.q.at(0, i, q_head, t.sequence));
      x.k[i] = be::widen(*a.k.at(0, i, k_head, t.sequence));
    }
    for (int i = lane; i < columns; i += be::worker_lanes)
      x.v[i] = weight * be::widen(*a.v.at(0, t.col + i, v_head, t.sequence));
    c.w.sync();
    int const count = a.transposed ? across : down;  // of lanes that share a column
    if (a.transposed) walk_columns(x, a, t, columns, decay * a.initial_scale);
    else walk_rows(x, a, t, columns, decay * a.initial_scale);
    c.w.sync();
    for (int i = lane; i < columns; i += be::worker_lanes) {
      float o = 0;
      for (int k = 0; k < count; ++k) o += x.sums[i * count + k];
      if constexpr (Family::scales) o *= a.scale;
      int const col = t.col + i;
      if (a.skip)
        o += be::widen(*a.v.at(0, col, v_head, t.sequence)) * a.skip[t.head * a.columns + col];
      if (a.gate.data) o *= silu{}(be::widen(*a.gate.at(0, col, t.head, t.sequence)));
      put(a.o.at(0, col, t.head, t.sequence), o);
    }
  }

 private:
  struct alignas(16) run {
    float of[n];
  };
  static TK_DEVICE run read(float const* p, bool whole) {
    if (whole) return *reinterpret_cast<run const*>(p);
    return {p[0], p[1], p[2], p[3]};
  }
  static TK_DEVICE void write(float* p, run const& x, bool whole) {
    if (whole) {
      *reinterpret_cast<run*>(p) = x;
    } else {
      TK_UNROLL
      for (int i = 0; i < n; ++i) p[i] = x.of[i];
    }
  }
  // Of the state's rows from `row` on each `down`-th, at_once of them before `end`, n columns from
  // `col` on: update(i, row, numbers), which are then written. The loads are on their way together.
  template <class Update>
  static TK_DEVICE void visit(args const& a, task const& t, int row, int end, int col,
                              Update update) {
    run x[at_once] = {};
    if (a.initial.data) {
      TK_UNROLL
      for (int i = 0; i < at_once; ++i) {
        int const there = row + i * down < end ? row + i * down : row;
        x[i] = read(a.initial.at(there, col, t.head, t.sequence), a.whole);
      }
    }
    TK_UNROLL
    for (int i = 0; i < at_once; ++i) {
      int const r = row + i * down;
      if (r >= end) continue;
      update(i, r, x[i]);
      if (!a.final.data) continue;
      TK_UNROLL
      for (float& y : x[i].of) y *= a.final_scale;
      write(a.final.at(r, col, t.head, t.sequence), x[i], a.whole);
    }
  }
  // Rows are columns of k: a lane has some columns of v, of which it sums up its rows.
  static TK_DEVICE void walk_rows(scratch& x, args const& a, task const& t, int columns,
                                  float kept) {
    int const lane = be::worker_lane(), first = lane / across;
    for (int piece = 0; piece < pieces; ++piece) {
      int const col = (lane % across + piece * across) * n;
      if (col >= columns) continue;
      float sums[n] = {};
      for (int row = first; row < a.d; row += at_once * down)
        visit(a, t, row, a.d, t.col + col, [&](int, int r, run& s) {
          TK_UNROLL
          for (int i = 0; i < n; ++i) {
            s.of[i] = kept * s.of[i] + x.k[r] * x.v[col + i];
            sums[i] += x.q[r] * s.of[i];
          }
        });
      TK_UNROLL
      for (int i = 0; i < n; ++i) x.sums[(col + i) * down + first] = sums[i];
    }
  }
  // Rows are columns of v: a lane has some columns of k, which it sums up for each of its rows.
  static TK_DEVICE void walk_columns(scratch& x, args const& a, task const& t, int columns,
                                     float kept) {
    int const lane = be::worker_lane(), end = t.col + columns;
    for (int row = t.col + lane / across; row < end; row += at_once * down) {
      float sums[at_once] = {};
      for (int col = lane % across * n; col < a.d; col += across * n)
        visit(a, t, row, end, col, [&](int i, int r, run& s) {
          TK_UNROLL
          for (int k = 0; k < n; ++k) {
            s.of[k] = kept * s.of[k] + x.v[r - t.col] * x.k[col + k];
            sums[i] += x.q[col + k] * s.of[k];
          }
        });
      TK_UNROLL
      for (int i = 0; i < at_once; ++i)
        if (row + i * down < end)
          x.sums[(row + i * down - t.col) * across + lane % across] = sums[i];
    }
  }
};

template <class T, class Family> struct token_step_run {
  static void launch(scan_problem const& x, int C, void* stream);
};
template <class T, class Family>
void token_step_run<T, Family>::launch(scan_problem const& x, int C, void* stream) {
  typename token_step<T, Family>::args a{};
  a.q = typed<T const>(x.q);
  a.k = typed<T const>(x.k);
  a.v = typed<T const>(x.v);
  a.o = typed<T>(x.o);
  if (x.gate.data) a.gate = typed<T const>(x.gate);
  a.decays = x.decays;
  a.weights = x.weights;
  a.skip = x.skip;
  a.C = C;
  a.b = x.rows.b;
  a.h = x.rows.h;
  a.d = static_cast<int>(x.q.d);
  a.columns = static_cast<int>(x.v.d);
  a.shares = x.shares;
  a.initial = typed<float const>(x.initial);
  a.final = typed<float>(x.final);
  a.transposed = x.transposed;
  auto const is_whole = [](auto const& y) { return !y.data || vector_width_of(y) >= 4; };
  a.whole = is_whole(a.initial) && is_whole(a.final);
  a.scale = x.scale;
  a.initial_scale = x.initial_scale;
  a.final_scale = x.final_scale;
  be::launch<token_step<T, Family>>(a, stream);
}

}  // namespace tk
