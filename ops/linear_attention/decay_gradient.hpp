// SPDX-License-Identifier: MIT
// The gradients of the logs of decays, from what two scans of the backward have left. A decay
// multiplies what came before it and is met at it or after it: of a token t of a chunk, with S the
// state that the chunk meets and D the gradient of the one that it leaves, c the log2 of decays,
//           dlog_decay_t = sum over i >= t of m_i + sum over j < t of m'_j + exp2(c) <S, D>
// where m and m' are the meetings (chunk_scan.hpp) of the first scan and of the reversed one, sums
// over the chunk's tokens.
// Order     a task has a chunk of a head. What a head's one decay gets is left chunk by chunk for
//           core/column_totals.hpp.
// Numerics  products of 16-bit numbers, summed in fp32. No difference of rounded numbers: pairs of
//           tokens that do not meet across t are in a row and a column of one N.
#pragma once
#include "backends/kernel.hpp"
#include "core/column_totals.hpp"
#include "core/vector.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/linear_attention/lone_worker.hpp"

namespace tk {

// By a worker, for one head of a chunk.
struct chunk_meetings {
  static constexpr int R = longest_chunk;
  shared_vec<float, R> later, earlier, states;  // m from the last on, m', shares of exp2(c) <S, D>

  TK_DEVICE void load(decay_meetings const& x, scan_rows const& rows, int block, int head,
                      int tokens) {
    std::int64_t const first = (std::int64_t{block} * rows.h + head) * x.units;
    float decay = 0;
    if (tokens > 0)
      decay = be::exp2(x.decays.data[x.decays.row(block, head, rows.h, x.C) + tokens - 1]);
    for (int i = be::worker_lane(); i < R; i += be::worker_lanes) {
      float sums[2] = {}, of_states = 0;
      for (int unit = 0; tokens > 0 && unit < x.units; ++unit) {
        for (int k = i; k < x.D; k += R) of_states += x.states[(first + unit) * x.D + k];
        if (i >= tokens) continue;
        TK_UNROLL
        for (int k = 0; k < 2; ++k) sums[k] += x.of[k][(first + unit) * x.C + i];
      }
      later.data[R - 1 - i] = sums[0];
      earlier.data[i] = sums[1];
      states.data[i] = of_states * decay;
    }
  }
  // Then all may read.
  template <class Worker> TK_DEVICE void sum_up(Worker const& w) {
    w.sync();  // they are there
    cumsum(w, later);
    cumsum(w, earlier);
  }
  TK_DEVICE float across() const { return sum_of(states); }
  TK_DEVICE float gradient(int t, float across) const {
    return across + later.data[R - 1 - t] + (t > 0 ? earlier.data[t - 1] : 0.f);
  }
};

// T: of sums.
template <class T> struct decay_gradient : lone_worker {
  struct scratch {
    chunk_meetings met;
    shared_vec<float, longest_chunk> gradients;
  };
  using args = decay_gradient_problem;
  struct task {
    int block, head, steps;
    chunk_place at;
  };

  static TK_BOTH int tasks(args const& a) { return a.rows.blocks(a.met.C) * a.rows.h; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const block = i / a.rows.h;
    return {block, i % a.rows.h, 0, place_of_chunk(a.rows, block, a.met.C)};
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const tokens = t.at.tokens;
    auto& met = c.scratch.met;
    met.load(a.met, a.rows, t.block, t.head, tokens);
    met.sum_up(c.w);
    float const across = met.across();
    auto const& to = a.to;
    float* const first =
        to.data + t.at.batch * to.b_stride + t.at.row * to.n_stride + t.head * to.h_stride;
    for (int token = c.w.lane(); token < tokens; token += be::worker_lanes) {
      float const gradient = a.scale * met.gradient(token, across);
      if (a.totals) c.scratch.gradients.data[token] = gradient;
      else first[token * to.n_stride] = gradient;
    }
    if (a.totals) {
      c.w.sync();
      float const all = sum_of(c.scratch.gradients, tokens);
      if (c.w.lane() == 0) a.totals[std::int64_t{t.block} * a.stride + t.head] = -all;
    }
  }
};

template <class T> struct decay_gradient_run {
  static void launch(decay_gradient_problem const& x, void* stream);
};
template <class T>
void decay_gradient_run<T>::launch(decay_gradient_problem const& x, void* stream) {
  be::launch<decay_gradient<T>>(x, stream);
  if (!x.to.of_heads) return;
  typename column_totals<T>::args a{{}, 1, x.rows.blocks(x.met.C), x.rows.h, x.stride};
  a.of[0] = {x.totals, x.to.data, x.to.h_stride};
  be::launch<column_totals<T>>(a, stream);
}

}  // namespace tk
