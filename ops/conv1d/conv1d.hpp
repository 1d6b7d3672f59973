// SPDX-License-Identifier: MIT
// conv1d: with s = t - (taps - 1)
//   y[b, t, c] = act(bias[c] + sum over i < taps of weight[c, i] x[b, s + i, c])
// Shapes    x, y[b, n, c], or packed sequences of tokens; weight[c, taps], bias[c]; states of the
//           taps - 1 tokens before each sequence, [sequences, taps - 1, c]. Channels contiguous,
//           any strides and alignment.
// Numerics  fp32, bias first, then by rising i; rounded once. No order depends on how sequences are
//           cut, and so no bits do.
// Order     sequences are cut into runs (token_runs.hpp). A walk goes down a run with the last
//           taps - 1 tokens in registers, so that x is read once, and those before each run again,
//           mostly from a cache; tokens are asked for before the ones above them are computed.
// States    the walk of a sequence's first run alone reads and writes them, reading first: the
//           final state may lie where the initial one is.
#pragma once
#include "core/activation.hpp"
#include "ops/conv1d/walks.hpp"

namespace tk {

template <class T, class W, int Taps>
struct conv1d : conv1d_walks<T, W, Taps, be::tune_conv1d(sizeof(T))> {
  using walks = conv1d_walks<T, W, Taps, be::tune_conv1d(sizeof(T))>;
  using typename walks::task, typename walks::tile, typename walks::tokens;
  using walks::R, walks::N, walks::ahead, walks::before;
  struct args {
    token_runs runs;
    token_rows<T const> x, initial;
    token_rows<T> y, final;
    conv1d_weights<W> weights;
    bool is_silu;
  };
  static TK_BOTH int channels(args const& a) { return static_cast<int>(a.x.of.cols); }
  static TK_BOTH int tasks(args const& a) { return walks::tasks_of(a.runs.count(), channels(a)); }
  static TK_BOTH task task_at(args const& a, int i, int) { return walks::task_of(i, channels(a)); }

  // Of sequences that begin here; all lanes have read their states before one is written.
  template <class Context>
  static TK_DEVICE void keep_states(Context& c, args const& a, typename walks::history const& from,
                                    token_run const& run, int col) {
    tokens last[before];
    if (run.begins()) TK_UNROLL
    for (int k = 0; k < before; ++k) from.load(last[k], run.n - before + k);
    c.w.sync();
    if (run.begins()) TK_UNROLL
    for (int k = 0; k < before; ++k)
      store(walks::state_of(a.final, run, col), a.final.vector_width, k, 0, cast<T>(last[k]));
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto const run = a.runs.at(this_row<R, N>(t.walk + c.w.id() * R));
    typename walks::history const from(a.x, a.initial, run, t.col);
    tokens x[before + 2 * ahead];  // those before, those that are computed, the next ones
    TK_UNROLL
    for (int k = 0; k < before; ++k) from.load(x[k], run.first - before + k);
    if (a.final.of.data) keep_states(c, a, from, run, t.col);
    auto const in = walks::walk_of(a.x, run, 0, run.end);
    auto const out = walks::walk_of(a.y, run, 0, run.end);
    auto const ask = [&](int place, int from_token) {
      TK_UNROLL
      for (int k = 0; k < ahead; ++k)
        load(x[place + k], in, a.x.vector_width, from_token + k, t.col);
    };
    ask(before, run.first);
    typename walks::weights const of(a.weights, channels(a), t.col);
    TK_ROLL
    for (int i = run.first; i < run.end; i += ahead) {
      ask(before + ahead, i + ahead);
      TK_UNROLL
      for (int k = 0; k < ahead; ++k) {
        tile z = of.sum(x, k);
        if (a.is_silu) z = map<silu>(z);
        store(out, a.y.vector_width, i + k, t.col, cast<T>(z));
      }
      TK_UNROLL
      for (int k = 0; k < before + ahead; ++k) x[k] = x[ahead + k];
    }
  }
};

}  // namespace tk
