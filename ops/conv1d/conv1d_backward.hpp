// SPDX-License-Identifier: MIT
// conv1d backward: with g[t] = dy[t] act'(bias + sum over i of weight[i] x[t - (taps - 1) + i]),
//   dx[t] = sum over i of weight[i] g[t + taps - 1 - i], and dfinal of the token
//   dweight[i] = sum over t of g[t] x[t - (taps - 1) + i], dbias = sum over t of g[t].
// Shapes    as conv1d; dy, dx as x; dinitial and dfinal as the states.
// Numerics  fp32; g is not rounded, every result is, once.
// Order     a walk goes down a run and taps - 1 tokens further, whose g its last tokens want, with
//           the last x and g in registers; x, dy and dx move once, but for the ends of runs. The
//           tokens before a sequence are those of its initial state, and so are their gradients.
// Sums      those of dweight and dbias stay in registers over `in_turn` runs, and are left in the
//           workspace for column_totals, walk by walk.
#pragma once
#include "core/activation.hpp"
#include "ops/conv1d/walks.hpp"

namespace tk {

template <class T, class W, int Taps>
struct conv1d_backward : conv1d_walks<T, W, Taps, be::tune_conv1d_backward(sizeof(T))> {
  using walks = conv1d_walks<T, W, Taps, be::tune_conv1d_backward(sizeof(T))>;
  using typename walks::task, typename walks::tile, typename walks::tokens;
  using walks::R, walks::N, walks::ahead, walks::before;
  struct args {
    token_runs runs;
    token_rows<T const> x, initial, dy, dfinal;
    token_rows<T> dx, dinitial;
    conv1d_weights<W> weights;
    tensor<float> sums;  // Taps + 1 matrices, one after another
    int in_turn;
    bool is_silu;
  };
  static TK_BOTH int channels(args const& a) { return static_cast<int>(a.x.of.cols); }
  static TK_BOTH int tasks(args const& a) {
    return walks::tasks_of(ceil_div(a.runs.count(), a.in_turn), channels(a));
  }
  static TK_BOTH task task_at(args const& a, int i, int) { return walks::task_of(i, channels(a)); }

  struct gradients {
    tile weight[Taps], bias;
  };

  // A token's gradient: in dx, or where it is before the sequence in dinitial.
  static TK_DEVICE void leave(args const& a, token_run const& run, int token, int col, tile& dx) {
    if (int const row = token - (run.n - before); row >= 0 && a.dfinal.of.data) {
      tokens more;
      load(more, walk<R, N>(a.dfinal.of, 0, before, run.sequence), a.dfinal.vector_width, row, col);
      dx = dx + more;
    }
    if (token < 0)
      store(walks::state_of(a.dinitial, run, col), a.dinitial.vector_width, token + before, 0,
            cast<T>(dx));
    else
      store(walks::walk_of(a.dx, run, run.first, run.end - run.first), a.dx.vector_width,
            token - run.first, col, cast<T>(dx));
  }

  static TK_DEVICE void go_down(args const& a, token_run const& run, int col,
                                typename walks::weights const& of, gradients& sum) {
    int const last = run.end + before, end = last < run.n ? last : run.n;
    typename walks::history const from(a.x, a.initial, run, col);
    auto const in = walks::walk_of(a.x, run, 0, end), dy_in = walks::walk_of(a.dy, run, 0, end);
    tokens x[before + 2 * ahead], dy[2 * ahead];
    tile g[before + ahead];
    auto const ask = [&](int place, int token) {
      TK_UNROLL
      for (int k = 0; k < ahead; ++k) {
        load(x[before + place + k], in, a.x.vector_width, token + k, col);
        load(dy[place + k], dy_in, a.dy.vector_width, token + k, col);
      }
    };
    TK_UNROLL
    for (int k = 0; k < before; ++k) {
      from.load(x[k], run.first - before + k);
      g[k] = 0.f;
    }
    ask(0, run.first);
    TK_ROLL
    for (int i = run.first; i < last; i += ahead) {
      ask(ahead, i + ahead);
      TK_UNROLL
      for (int k = 0; k < ahead; ++k) {
        tile& now = g[before + k];
        if (i + k >= run.n) {
          now = 0.f;
        } else if (a.is_silu) {
          tile const z = of.sum(x, k);
          now = dy[k] * map<silu_slope>(z);
        } else {
          now = dy[k] * 1.f;
        }
        if (i + k < run.end) {
          sum.bias = sum.bias + now;
          TK_UNROLL
          for (int tap = 0; tap < Taps; ++tap) sum.weight[tap] = sum.weight[tap] + now * x[k + tap];
        }
        tile dx;
        dx = of.weight[0] * now;
        TK_UNROLL
        for (int tap = 1; tap < Taps; ++tap) dx = dx + of.weight[tap] * g[before + k - tap];
        leave(a, run, i + k - before, col, dx);
      }
      TK_UNROLL
      for (int k = 0; k < before + ahead; ++k) x[k] = x[ahead + k];
      TK_UNROLL
      for (int k = 0; k < ahead; ++k) dy[k] = dy[ahead + k];
      TK_UNROLL
      for (int k = 0; k < before; ++k) g[k] = g[ahead + k];
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const walk = t.walk + c.w.id() * R;
    typename walks::weights const of(a.weights, channels(a), t.col);
    gradients sum;
    sum.bias = 0.f;
    TK_UNROLL
    for (auto& each : sum.weight) each = 0.f;
    TK_ROLL
    for (int i = 0; i < a.in_turn; ++i) {
      auto const run = a.runs.at(this_row<R, N>(walk) * a.in_turn + i);
      if (run.there) go_down(a, run, t.col, of, sum);
    }
    if (!a.sums.data) return;
    auto to = a.sums;
    auto const put = [&](tile const& x) {
      store(to, chunk_of<float>, walk, t.col, cast<float>(x));
      to.data += to.rows * to.row_stride;
    };
    TK_UNROLL
    for (auto const& each : sum.weight) put(each);
    put(sum.bias);
  }
};

}  // namespace tk
