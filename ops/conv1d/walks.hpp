// SPDX-License-Identifier: MIT
// What conv1d and its backward have in common: walks down runs of tokens, in the channels of a
// tile.
#pragma once
#include "backends/kernel.hpp"
#include "core/walk.hpp"
#include "ops/conv1d/token_runs.hpp"
#include "ops/conv1d/tuning.hpp"

namespace tk {

// A tensor of tokens [b, n, c], or of states [sequences, taps - 1, c].
template <class T> struct token_rows {
  tensor<T> of;
  int vector_width;
};
// weight [c, taps] and bias [c]; data is null in a bias that is absent.
template <class W> struct conv1d_weights {
  W const *weight, *bias;
  int weight_vector_width, bias_vector_width;
};

// Tune is the chip's conv1d_tuning.
template <class T, class W, int Taps, auto Tune> struct conv1d_walks {
  static constexpr int workers = Tune.workers, per_unit = Tune.per_unit, cluster = 1, stages = 1,
                       own_slots = 1;
  static constexpr int R = Tune.R, N = Tune.N, ahead = Tune.ahead, before = Taps - 1;
  using tile = reg_tile<float, R, N>;
  using tokens = reg_tile<T, R, N>;
  struct stage {};
  struct own {};
  struct scratch {};
  struct task {
    int walk, col, steps;
  };
  template <class Args> static TK_BOTH int workers_of(Args const&) { return workers; }
  // Of so many walks; neighbours have other channels of the same tokens.
  static TK_BOTH int tasks_of(int walks, int channels) {
    return ceil_div(walks, workers * R) * ceil_div(channels, N);
  }
  static TK_BOTH task task_of(int i, int channels) {
    int const across = ceil_div(channels, N);
    return {i / across * (workers * R), i % across * N, 0};
  }
  template <class Args>
  static TK_DEVICE void load(stage&, Args const&, task const&, int, be::arrival) {}

  struct weights {
    reg_row<float, R, N> weight[Taps], bias[1];

    TK_DEVICE weights(conv1d_weights<W> const& x, int channels, int col) {
      load_interleaved(weight, x.weight, channels, x.weight_vector_width, col);
      load_interleaved(bias, x.bias, x.bias ? channels : 0, x.bias_vector_width, col);
    }
    // Before the activation, of the tokens that end with x[at + before].
    template <int Count> TK_DEVICE tile sum(tokens const (&x)[Count], int at) const {
      tile z;
      z = bias[0] + weight[0] * x[at];
      TK_UNROLL
      for (int k = 1; k < Taps; ++k) z = z + weight[k] * x[at + k];
      return z;
    }
  };

  template <class X>
  static TK_DEVICE auto walk_of(token_rows<X> const& x, token_run const& r, int first, int count) {
    return walk<R, N>(x.of, r.start + first, count, r.batch);
  }
  // The state of a sequence that begins here, else no row, in the tile's columns alone, which are 0
  // and up: where it is moved on in its place, no lane reads what another tile's write.
  template <class X>
  static TK_DEVICE auto state_of(token_rows<X> const& x, token_run const& r, int col) {
    auto rows = walk<R, N>(x.of, 0, r.begins() && x.of.data ? before : 0, r.sequence);
    rows.data += col;
    rows.cols = rows.cols - col < N ? rows.cols - col : N;
    return rows;
  }

  // A sequence's tokens from -before on: those of its initial state come first.
  struct history {
    row_walk<T const> x, state;
    int x_width, state_width, col;

    TK_DEVICE history(token_rows<T const> const& of, token_rows<T const> const& initial,
                      token_run const& r, int at)
        : x(walk_of(of, r, 0, r.n)),
          state(state_of(initial, r, at)),
          x_width(of.vector_width),
          state_width(initial.vector_width),
          col(at) {}
    TK_DEVICE void load(tokens& to, int t) const {
      auto from = x;
      if (t < 0) from = state;
      tk::load(to, from, t < 0 ? state_width : x_width, t < 0 ? t + before : t, t < 0 ? 0 : col);
    }
  };
};

}  // namespace tk
