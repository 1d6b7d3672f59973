// SPDX-License-Identifier: MIT
// The gradients that are left when chunk_gradients.hpp has run. With w = dt', of a token t of a
// chunk
//           g_t = the gradient of log decay_t (ops/linear_attention/decay_gradient.hpp)
//           dw_t = x_t u_t + A g_t             ddt_t = dw_t slope_t
//           dA = sum of w_t g_t   ddt_bias = sum of ddt_t  dD = sum of x_t dout_t
// A task has a chunk of some heads (chunk_sums); sums are left chunk by chunk for
// core/column_totals.hpp.
#pragma once
#include "backends/kernel.hpp"
#include "core/column_totals.hpp"
#include "ops/linear_attention/chunk_decays.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/linear_attention/lone_worker.hpp"
#include "ops/mamba2/plan.hpp"

namespace tk {

// To element `at` of data, of a type known when it runs.
TK_DEVICE void put_as(void* data, element type, std::int64_t at, float x) {
  if (type == element::fp32) put(static_cast<float*>(data) + at, x);
  else if (type == element::bf16) put(static_cast<bf16*>(data) + at, x);
  else put(static_cast<fp16*>(data) + at, x);
}

// T: of sums.
template <class T> struct step_gradients : lone_worker {
  static constexpr int parts = 8;  // of the shares of a head's <S, G>
  struct scratch {
    // From the last token on, what it has of earlier ones; what later ones have of it; terms of dA
    // and ddt_bias. The first is then x dout.
    chunk_sums::table earlier, later, of_A, of_bias;
    float states[chunk_sums::heads][parts];
  };
  using args = step_gradients_problem;
  using task = chunk_sums::task;

  static TK_BOTH int tasks(args const& a) {
    return chunk_sums::tasks(a.rows.blocks(a.C), a.rows.h);
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    return chunk_sums::task_at(i, a.rows.h);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto const at = place_of_chunk(a.rows, t.block, a.C);
    auto& s = c.scratch;
    read(c, a, t, at.tokens);
    chunk_sums::sum_parts(c.w, s.earlier, a.C);
    chunk_sums::sum_parts(c.w, s.later, a.C);
    auto const first = (std::int64_t{t.block} * a.rows.h + t.head) * a.C;
    auto const to = at.batch * a.ddt.b_stride + at.row * a.ddt.n_stride + t.head * a.ddt.h_stride;
    chunk_sums::for_each(
        a.C, [](int, int) { return 0; },
        [&](int head, int token, int) {
          auto const nth = first + head * a.C + token;
          float of_A = 0, ddt = 0;
          if (head < t.heads && token < at.tokens) {
            float const rate = a.A.data[(t.head + head) * a.A.h_stride],
                        g = gradient(a, s, head, token,
                                     a.tables.decays.data[first + head * a.C + at.tokens - 1]);
            ddt = (a.left.direct[nth] + rate * g) * a.tables.slopes[nth];
            of_A = a.tables.weights[nth] * g;
            put_as(a.ddt.data, a.ddt.type, to + token * a.ddt.n_stride + head * a.ddt.h_stride,
                   ddt);
          }
          s.of_A[head][token] = of_A, s.of_bias[head][token] = ddt;
        });
    leave_sums(c, a, t, s.of_A, a.of_A);
    leave_sums(c, a, t, s.of_bias, a.of_bias);
    if (a.left.skipped) {
      chunk_sums::write(c.w, t, a.C, [&](int head, int token) {
        s.earlier[head][token] =
            token < at.tokens ? a.left.skipped[first + head * a.C + token] : 0.f;
      });
      leave_sums(c, a, t, s.earlier, a.of_D);
    }
    if (a.left.skipped_columns && at.tokens == 0) {
      float* const none =
          a.left.skipped_columns + (std::int64_t{t.block} * a.rows.h + t.head) * a.p;
      for (int i = c.w.lane(); i < t.heads * a.p; i += be::worker_lanes) none[i] = 0;
    }
  }

 private:
  // Where no token is, and where no head is, sums are of zeros.
  template <class Context>
  static TK_DEVICE void read(Context& c, args const& a, task const& t, int tokens) {
    auto& s = c.scratch;
    auto const& x = a.left;
    auto const first = std::int64_t{t.block} * a.rows.h + t.head;
    for (int i = c.w.lane(); i < chunk_sums::heads * a.C; i += be::worker_lanes) {
      int const head = i / a.C, token = i % a.C;
      bool const is_there = head < t.heads && token < tokens;
      auto const at = first * a.C + i;
      s.earlier[head][a.C - 1 - token] = is_there ? x.before[at] + x.sees[at] - x.seen[at] : 0.f;
      s.later[head][token] = is_there ? x.after[at] : 0.f;
    }
    constexpr int states = rows_of_met_states;
    for (int i = c.w.lane(); i < t.heads * parts; i += be::worker_lanes) {
      int const head = i / parts, part = i % parts;
      float sum = 0;
      for (int k = part; tokens > 0 && k < states; k += parts)
        sum += x.states[(first + head) * states + k];
      s.states[head][part] = sum;
    }
  }
  // Of a token's log decay; `decay` is the log2 of the chunk's.
  static TK_DEVICE float gradient(args const& a, scratch const& s, int head, int token,
                                  float decay) {
    float across = 0;
    TK_UNROLL
    for (int i = 0; i < parts; ++i) across += s.states[head][i];
    float const earlier = chunk_sums::sum(s.earlier, head, a.C - 1 - token);
    return across * be::exp2(decay) + earlier +
           (token > 0 ? chunk_sums::sum(s.later, head, token - 1) : 0.f);
  }
  template <class Context>
  static TK_DEVICE void leave_sums(Context& c, args const& a, task const& t, chunk_sums::table& x,
                                   float* to) {
    if (!to) return;
    chunk_sums::sum_parts(c.w, x, a.C);
    for (int head = c.w.lane(); head < t.heads; head += be::worker_lanes)
      to[std::int64_t{t.block} * a.stride + t.head + head] = chunk_sums::sum(x, head, a.C - 1);
  }
};

}  // namespace tk
