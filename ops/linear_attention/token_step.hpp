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
#include "ops/linear_attention/state_walk.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T, class Family> struct token_step : lone_worker {
  static constexpr int longest = 256, W = 64;  // of q and k; columns of a task
  using states = walked_states<W>;
  using lanes = typename states::lanes;
  static_assert(W % lanes::down == 0);
  struct args {
    tensor<T const> q, k, v, gate;
    tensor<T> o;
    decay_table decays;  // data may be null, and so may what follows
    float const *weights, *skip;
    int C, b, h, d, columns;
    head_shares shares;
    states of;
    bool transposed;  // states are [.., columns of v, columns of k]
    float scale, initial_scale;
  };
  struct scratch {
    float q[longest], k[longest], v[W];
    float sums[W * (lanes::across > lanes::down ? lanes::across : lanes::down)];  // of each column
  };
  struct task {
    int sequence, head, col, steps;
  };

  static TK_BOTH int parts(args const& a) { return ceil_div(a.columns, W); }
  static TK_BOTH int tasks(args const& a) { return a.b * a.h * parts(a); }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const all = parts(a);
    return {i / (all * a.h), i / all % a.h, i % all * W, 0};
  }

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
    // Of lanes that share a column.
    int const count = a.transposed ? lanes::across : lanes::down;
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
  using run = typename states::run;
  // Rows are columns of k: a lane has some columns of v, of which it sums up its rows.
  static TK_DEVICE void walk_rows(scratch& x, args const& a, task const& t, int columns,
                                  float kept) {
    a.of.walk_rows(
        x.q, a.d, t.col, columns, t.head, t.sequence,
        [&](int row, int col, run& s) {
          TK_UNROLL
          for (int i = 0; i < s.n; ++i) s.of[i] = kept * s.of[i] + x.k[row] * x.v[col + i];
        },
        [&](int col, int nth, float sum) { x.sums[col * lanes::down + nth] = sum; });
  }
  // Rows are columns of v: a lane has some columns of k, which it sums up for each of its rows.
  static TK_DEVICE void walk_columns(scratch& x, args const& a, task const& t, int columns,
                                     float kept) {
    int const end = t.col + columns, nth = be::worker_lane() % lanes::across;
    for (int row = t.col + lanes::row(); row < end; row += lanes::rows_at_once) {
      float sums[runs_at_once] = {};
      for (int col = lanes::col(); col < a.d; col += lanes::step)
        a.of.visit(row, end, col, t.head, t.sequence, [&](int i, int r, run& s) {
          TK_UNROLL
          for (int k = 0; k < s.n; ++k) {
            s.of[k] = kept * s.of[k] + x.v[r - t.col] * x.k[col + k];
            sums[i] += x.q[col + k] * s.of[k];
          }
        });
      TK_UNROLL
      for (int i = 0; i < runs_at_once; ++i)
        if (int const r = row + i * lanes::down; r < end)
          x.sums[(r - t.col) * lanes::across + nth] = sums[i];
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
  walk(a.of, x.initial, x.final);
  a.of.final_scale = x.final_scale;
  a.transposed = x.transposed;
  a.scale = x.scale;
  a.initial_scale = x.initial_scale;
  be::launch<token_step<T, Family>>(a, stream);
}

}  // namespace tk
