// SPDX-License-Identifier: MIT
// The gradients of the logs of decays, from what two scans of the backward have left. A decay
// multiplies what came before it and is met at it or after it: of a token t of a chunk, with S the
// state that the chunk meets and D the gradient of the one that it leaves, c the log2 of decays,
//           dlog_decay_t = sum over i >= t of m_i + sum over j < t of m'_j + exp2(c) <S, D>
// where m and m' are the meetings (chunk_scan.hpp) of the first scan and of the reversed one, sums
// over the chunk's tokens.
// Order     a task has a chunk of some heads, a worker each. What a head's one decay gets is left
//           chunk by chunk for core/column_totals.hpp.
// Numerics  products of 16-bit numbers, summed in fp32. No difference of rounded numbers: pairs of
//           tokens that do not meet across t are in a row and a column of one N.
#pragma once
#include "backends/kernel.hpp"
#include "core/column_totals.hpp"
#include "core/vector.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

// By a worker, for one head of a chunk: m and m', and dlog_decay of them.
template <int R> struct chunk_meetings {
  shared_vec<float, R> later, earlier, states;  // m, m', shares of <S, D>

  // Then, after a sync, all may read.
  TK_DEVICE void load(decay_meetings const& x, scan_rows const& rows, int block, int head, int C,
                      int tokens, float const* weights) {
    std::int64_t const first = (std::int64_t{block} * rows.h + head) * x.units * C;
    for (int token = be::worker_lane(); token < tokens; token += be::worker_lanes) {
      float sums[2] = {};
      for (int unit = 0; unit < x.units; ++unit) TK_UNROLL
      for (int k = 0; k < 2; ++k) sums[k] += x.of[k][first + unit * C + token];
      later.data[token] = sums[0];
      earlier.data[token] = weights ? weights[token] * sums[1] : sums[1];
    }
  }
  // exp2(c) <S, D>, where so many tokens are there.
  TK_DEVICE float across(decay_meetings const& x, scan_rows const& rows, int block, int head, int C,
                         int tokens) const {
    if (tokens == 0) return 0;
    float sum = 0;
    for (float const of : states.data) sum += of;
    return sum * be::exp2(x.decays.data[x.decays.row(block, head, rows.h, C) + tokens - 1]);
  }
  TK_DEVICE float gradient(int t, int tokens, float across) const {
    float sum = across;
    for (int i = tokens; i-- > t;) sum += later.data[i];
    for (int j = 0; j < t; ++j) sum += earlier.data[j];
    return sum;
  }
};

template <class T> struct decay_gradient {
  static constexpr int workers = be::chunk_workers, cluster = 1, stages = 3, own_slots = 1, R = 64;
  struct stage {
    shared_tile<T, R, R> s[workers], grad[workers];
  };
  struct own {};
  struct scratch {
    chunk_meetings<R> met;
  };
  using source = be::source<T, R, R>;
  struct args {
    source s, grad;
    int images;  // tiles of a state
    decay_gradient_problem of;
  };
  struct task {
    worker_heads heads;
    int block, steps;
    chunk_place at;
  };

  static TK_BOTH int tasks(args const& a) {
    return a.of.rows.blocks(a.of.C) * worker_heads::groups(a.of.rows.h, workers);
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const h = a.of.rows.h, groups = worker_heads::groups(h, workers), block = i / groups;
    auto const at = place_of_chunk(a.of.rows, block, a.of.C);
    return {{i % groups * workers, h}, block, at.tokens > 0 ? a.images : 0, at};
  }
  static TK_DEVICE void load(stage& x, args const& a, task const& t, int step, be::arrival done) {
    TK_UNROLL
    for (int w = 0; w < workers; ++w) {
      int const head = t.heads.of(w);
      load_async(x.s[w], window(a.s, step * R, 0, head, t.block), done);
      load_async(x.grad[w], window(a.grad, step * R, 0, head, t.block), done);
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const id = c.w.id(), head = t.heads.of(id), tokens = t.at.tokens;
    auto& met = c.scratch.met;
    met.load(a.of.met, a.of.rows, t.block, head, a.of.C, tokens, nullptr);
    reg_col<float, R> states = 0.f;
    for (int step = 0; step < t.steps; ++step) {
      auto const& x = c.in.take();
      reg_tile<T, R, R> s, grad;
      tk::load(s, x.s[id]);
      tk::load(grad, x.grad[id]);
      release_loaded(c.w, c.in);
      states = states + row_sum_share(s * grad);
    }
    tk::store(met.states, total(states));
    c.w.sync();
    float const across = met.across(a.of.met, a.of.rows, t.block, head, a.of.C, tokens);
    bool const mine = t.heads.has(id);
    if (mine && !a.of.totals) {
      auto const& to = a.of.to;
      float* const first =
          to.data + t.at.batch * to.b_stride + t.at.row * to.n_stride + head * to.h_stride;
      for (int token = c.w.lane(); token < tokens; token += be::worker_lanes)
        first[token * to.n_stride] = a.of.scale * met.gradient(token, tokens, across);
    } else if (mine && c.w.lane() == 0) {
      float all = across * tokens;
      for (int i = 0; i < tokens; ++i)
        all += met.later.data[i] * (i + 1) + met.earlier.data[i] * (tokens - 1 - i);
      a.of.totals[std::int64_t{t.block} * a.of.stride + head] = -all * a.of.scale;
    }
    c.w.sync();  // all have read the sums
  }
};

// Images of states as tiles of R by R numbers, at [chunk, head].
template <class T, int R>
tensor<T const> images_of_states(void const* images, std::int64_t size, std::int64_t h,
                                 std::int64_t chunks) {
  return {static_cast<T const*>(images), size / R, R, R, h, size, chunks, h * size};
}

template <class T> struct decay_gradient_run {
  static void launch(decay_gradient_problem const& x, void* stream);
};
template <class T>
void decay_gradient_run<T>::launch(decay_gradient_problem const& x, void* stream) {
  using of = decay_gradient<T>;
  auto const states = [&](int nth) {
    return be::read_from<of::R, of::R>(images_of_states<T, of::R>(
        x.met.states[nth], x.met.state_size, x.rows.h, x.rows.blocks(x.C)));
  };
  be::launch<of>({states(0), states(1), static_cast<int>(x.met.state_size / (of::R * of::R)), x},
                 stream);
  if (!x.to.of_heads) return;
  typename column_totals<float>::args a{{}, 1, x.rows.blocks(x.C), x.rows.h, x.stride};
  a.of[0] = {x.totals, x.to.data, x.to.h_stride};
  be::launch<column_totals<float>>(a, stream);
}

}  // namespace tk
