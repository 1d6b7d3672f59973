// SPDX-License-Identifier: MIT
// The gradients that are left when the scans of the backward have run. With w = dt', of a token t
// of a chunk that ends with token e, and u_t what the scan gives dx per w_t,
//           dx_t = w_t u_t + D dout_t                      e_t = x_t u_t
//           g_t = the gradient of log decay_t (ops/linear_attention/decay_gradient.hpp)
//           dw_t = e_t + A g_t                             ddt_t = dw_t slope_t
//           dA = sum of w_t g_t   ddt_bias = sum of ddt_t  dD = sum of x_t dout_t
// A task has a chunk of some heads, a worker each; sums are left chunk by chunk for
// core/column_totals.hpp.
#pragma once
#include "backends/kernel.hpp"
#include "core/vector.hpp"
#include "ops/linear_attention/decay_gradient.hpp"
#include "ops/mamba2/plan.hpp"

namespace tk {

// To element `at` of data, of a type known when it runs.
TK_DEVICE void put_as(void* data, element type, std::int64_t at, float x) {
  if (type == element::fp32) put(static_cast<float*>(data) + at, x);
  else if (type == element::bf16) put(static_cast<bf16*>(data) + at, x);
  else put(static_cast<fp16*>(data) + at, x);
}

template <class T> struct step_gradients {
  static constexpr int workers = be::chunk_workers, cluster = 1, stages = 2, own_slots = 1, R = 64;
  struct stage {
    shared_tile<T, R, R> a[workers], b[workers], c[workers];
  };
  struct own {};
  struct scratch {
    chunk_meetings met;
    shared_vec<float, R> weights, slopes, direct, of_A, of_bias, columns;  // direct: e
    col_exchange<R> exchange;
  };
  using source = be::source<T, R, R>;
  struct args {
    source x, dout, u;
    be::sink<T, R, R> dx;
    int x_parts, p;
    step_gradients_problem of;
  };
  struct task {
    worker_heads heads;
    int block, steps;
    chunk_place at;
  };

  static TK_BOTH int tasks(args const& a) {
    return a.of.rows.blocks(a.of.met.C) * worker_heads::groups(a.of.rows.h, workers);
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const h = a.of.rows.h, groups = worker_heads::groups(h, workers), block = i / groups;
    auto const at = place_of_chunk(a.of.rows, block, a.of.met.C);
    return {{i % groups * workers, h}, block, at.tokens > 0 ? a.x_parts : 0, at};
  }

  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    TK_UNROLL
    for (int w = 0; w < workers; ++w) {
      auto const to = [&](auto& tile, source const& from) {
        int const end = t.at.row + t.at.tokens;
        load_async(tile, window(from, t.at.row, step * R, t.heads.of(w), t.at.batch, end), done);
      };
      to(s.a[w], a.x);
      to(s.b[w], a.u);
      to(s.c[w], a.dout);
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const id = c.w.id(), head = t.heads.of(id);
    bool const mine = t.heads.has(id);
    auto const place = a.of.tables.decays.row(t.block, head, a.of.rows.h, a.of.met.C);
    auto& s = c.scratch;
    bool const skips = a.of.tables.skip != nullptr, by_columns = a.of.dD.of_columns;
    float const rate = a.of.A.data[head * a.of.A.h_stride];
    // Others read these after release_loaded's barrier.
    for (int i = c.w.lane(); i < R; i += be::worker_lanes) {
      bool const is_there = i < t.at.tokens;
      s.weights.data[i] = is_there ? a.of.tables.weights[place + i] : 0.f;
      s.slopes.data[i] = is_there ? a.of.tables.slopes[place + i] : 0.f;
    }
    s.met.load(a.of.met, a.of.rows, t.block, head, t.at.tokens, a.of.tables.weights + place);
    reg_col<float, R> direct = 0.f, skipped = 0.f;
    for (int step = 0; step < t.steps; ++step) {
      auto const& slot = c.in.take();
      reg_tile<T, R, R> left, right;
      tk::load(left, slot.a[id]);
      tk::load(right, slot.b[id]);
      reg_tile<T, R, R> dout;
      tk::load(dout, slot.c[id]);
      release_loaded(c.w, c.in);
      int const col = step * R;
      direct = direct + row_sum_share(left * right);
      auto const to = window(a.dx, t.at.row, col, head, t.at.batch, t.at.row + t.at.tokens);
      auto const w = load_col(s.weights);
      if (mine && skips) {
        float const* const row = a.of.tables.skip + std::int64_t{head} * a.p + col;
        tk::store(to, cast<T>(right * w + dout * load_row<R, R>(row, a.p - col)));
      } else if (mine) {
        tk::store(to, cast<T>(right * w));
      }
      if (a.of.of_D && by_columns) {
        col_sum(c.w, s.columns, left * dout, s.exchange);
        float* const sums = a.of.of_D + std::int64_t{t.block} * a.of.D_stride + head * a.p;
        if (mine) tk::store(sums + col, s.columns, a.p - col);
        c.w.sync();  // all have read the columns
      } else if (a.of.of_D) {
        skipped = skipped + row_sum_share(left * dout);
      }
    }
    tk::store(s.direct, total(direct));
    tk::store(s.columns, total(skipped));
    s.met.sum_up(c.w);
    if (mine) leave(c, a, t, head, rate);
    c.w.sync();  // all have read the sums
  }

 private:
  // From the sums of tokens, left in scratch.
  template <class Context>
  static TK_DEVICE void leave(Context& c, args const& a, task const& t, int head, float rate) {
    auto& s = c.scratch;
    int const tokens = t.at.tokens;
    float const across = s.met.across();
    auto const& to = a.of.ddt;
    for (int token = c.w.lane(); token < tokens; token += be::worker_lanes) {
      float const g = s.met.gradient(token, across);
      float const ddt = (s.direct.data[token] + rate * g) * s.slopes.data[token];
      std::int64_t const at = t.at.batch * to.b_stride +
                              (std::int64_t{t.at.row} + token) * to.n_stride + head * to.h_stride;
      put_as(to.data, to.type, at, ddt);
      s.of_A.data[token] = s.weights.data[token] * g;
      s.of_bias.data[token] = ddt;
    }
    c.w.sync();
    auto const leave_sum = [&](shared_vec<float, R> const& x, float* to) {
      if (!to) return;
      float const sum = sum_of(x, tokens);
      if (c.w.lane() == 0) to[std::int64_t{t.block} * a.of.stride + head] = sum;
    };
    leave_sum(s.of_A, a.of.of_A);
    leave_sum(s.of_bias, a.of.of_bias);
    if (!a.of.dD.of_columns) {
      leave_sum(s.columns, a.of.of_D);
    } else if (a.of.of_D && tokens == 0) {
      float* const none = a.of.of_D + std::int64_t{t.block} * a.of.D_stride + head * a.p;
      for (int i = c.w.lane(); i < a.p; i += be::worker_lanes) none[i] = 0;
    }
  }
};

}  // namespace tk
