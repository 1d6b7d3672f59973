// SPDX-License-Identifier: MIT
// The gradients that are left when the scans of the backward have run. With w = dt', of a token t
// of a chunk that ends with token e, and u_t what the scan gives dx per w_t,
//           dx_t = w_t u_t + D dout_t                      e_t = x_t u_t
//           g_t = sum over i from t to e of (C_i dC_i - w_i e_i) + <S_e, D_e> (decay_gradient.hpp)
//           dw_t = e_t + A g_t                             ddt_t = dw_t slope_t
//           dA = sum of w_t g_t   ddt_bias = sum of ddt_t  dD = sum of x_t dout_t
// A task has a chunk of a head; sums are left chunk by chunk for core/column_totals.hpp.
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
  static constexpr int workers = 1, cluster = 1, stages = 2, own_slots = 1, R = 64;
  struct stage {
    shared_tile<T, R, R> a, b, c;
  };
  struct own {};
  struct scratch {
    shared_vec<float, R> decayed, met, states;  // C dC, x u, products of states, of each token
    shared_vec<float, R> of_A, of_bias, columns;
    col_exchange<R> exchange;
  };
  using source = be::source<T, R, R>;
  struct args {
    source x, dout, u, C, dC;
    source s, grad;  // images of states at the ends of chunks
    be::sink<T, R, R> dx;
    int x_parts, C_parts, images, sharing, p;
    step_gradients_problem of;
  };
  struct task {
    int head, block, steps;
    chunk_place at;
  };

  static TK_BOTH int tasks(args const& a) { return a.of.rows.blocks(a.of.C_tokens) * a.of.rows.h; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const h = a.of.rows.h, block = i / h;
    auto const at = place_of_chunk(a.of.rows, block, a.of.C_tokens);
    return {i % h, block, at.tokens > 0 ? a.x_parts + a.C_parts + a.images : 0, at};
  }

  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const end = t.at.row + t.at.tokens;
    auto const to = [&](auto& tile, source const& from, int col, int head) {
      load_async(tile, window(from, t.at.row, col, head, t.at.batch, end), done);
    };
    if (step < a.x_parts) {
      int const col = step * R;
      to(s.a, a.x, col, t.head);
      to(s.b, a.u, col, t.head);
      to(s.c, a.dout, col, t.head);
    } else if (step < a.x_parts + a.C_parts) {
      int const col = (step - a.x_parts) * R;
      to(s.a, a.C, col, t.head / a.sharing);
      to(s.b, a.dC, col, t.head);
    } else {
      int const row = (step - a.x_parts - a.C_parts) * R;
      load_async(s.a, window(a.s, row, 0, t.head, t.block), done);
      load_async(s.b, window(a.grad, row, 0, t.head, t.block), done);
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto const place = a.of.tables.decays.row(t.block, t.head, a.of.rows.h, a.of.C_tokens);
    float const* const weights = a.of.tables.weights + place;
    bool const skips = a.of.tables.skip != nullptr, by_columns = a.of.dD.of_columns;
    reg_col<float, R> decayed = 0.f, met = 0.f, states = 0.f, skipped = 0.f;
    for (int step = 0; step < t.steps; ++step) {
      auto const& slot = c.in.take();
      reg_tile<T, R, R> left, right;
      tk::load(left, slot.a);
      tk::load(right, slot.b);
      if (step < a.x_parts) {
        reg_tile<T, R, R> dout;
        tk::load(dout, slot.c);
        c.w.sync();  // all have read the slot
        c.in.release();
        int const col = step * R;
        met = met + row_sum_share(left * right);
        auto const to = window(a.dx, t.at.row, col, t.head, t.at.batch, t.at.row + t.at.tokens);
        auto const w = load_col<R>(weights, t.at.tokens, 0.f);
        if (skips) {
          float const* const row = a.of.tables.skip + std::int64_t{t.head} * a.p + col;
          tk::store(to, cast<T>(right * w + dout * load_row<R, R>(row, a.p - col)));
        } else {
          tk::store(to, cast<T>(right * w));
        }
        if (a.of.of_D && by_columns) {
          col_sum(c.w, c.scratch.columns, left * dout, c.scratch.exchange);
          float* const sums = a.of.of_D + std::int64_t{t.block} * a.of.D_stride + t.head * a.p;
          tk::store(sums + col, c.scratch.columns, a.p - col);
          c.w.sync();  // all have read the columns
        } else if (a.of.of_D) {
          skipped = skipped + row_sum_share(left * dout);
        }
        continue;
      }
      c.w.sync();  // all have read the slot
      c.in.release();
      auto const sum = row_sum_share(left * right);
      if (step < a.x_parts + a.C_parts) decayed = decayed + sum;
      else states = states + sum;
    }
    tk::store(c.scratch.decayed, total(decayed));
    tk::store(c.scratch.met, total(met));
    tk::store(c.scratch.states, total(states));
    tk::store(c.scratch.columns, total(skipped));
    c.w.sync();
    leave(c, a, t, weights, a.of.tables.slopes + place);
    c.w.sync();  // all have read the sums
  }

 private:
  template <class Context>
  static TK_DEVICE void leave(Context& c, args const& a, task const& t, float const* weights,
                              float const* slopes) {
    auto& s = c.scratch;
    float of_states = 0;
    for (float const x : s.states.data) of_states += x;
    float const rate = a.of.A.data[t.head * a.of.A.h_stride];
    for (int token = c.w.lane(); token < t.at.tokens; token += be::worker_lanes) {
      float g = of_states;
      for (int i = t.at.tokens; i-- > token;) g += s.decayed.data[i] - weights[i] * s.met.data[i];
      float const ddt = (s.met.data[token] + rate * g) * slopes[token];
      auto const& to = a.of.ddt;
      std::int64_t const at = t.at.batch * to.b_stride +
                              (std::int64_t{t.at.row} + token) * to.n_stride + t.head * to.h_stride;
      put_as(to.data, to.type, at, ddt);
      s.of_A.data[token] = weights[token] * g;
      s.of_bias.data[token] = ddt;
    }
    c.w.sync();
    if (c.w.lane() != 0) return;
    float of_A = 0, of_bias = 0, of_D = 0;
    for (int i = 0; i < t.at.tokens; ++i) of_A += s.of_A.data[i], of_bias += s.of_bias.data[i];
    std::int64_t const sums = std::int64_t{t.block} * a.of.stride + t.head;
    a.of.of_A[sums] = of_A;
    if (a.of.of_bias) a.of.of_bias[sums] = of_bias;
    if (!a.of.of_D) return;
    if (!a.of.dD.of_columns) {
      for (float const x : s.columns.data) of_D += x;
      a.of.of_D[sums] = of_D;
    } else if (t.at.tokens == 0) {
      float* const none = a.of.of_D + std::int64_t{t.block} * a.of.D_stride + t.head * a.p;
      for (int i = 0; i < a.p; ++i) none[i] = 0;
    }
  }
};

}  // namespace tk
