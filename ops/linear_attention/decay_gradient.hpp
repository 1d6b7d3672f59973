// SPDX-License-Identifier: MIT
// The gradients of the logs of decays, from those of q and k. With S_t and D_t as in
// linear_attention_backward.h, of a token t of a chunk that ends with token e,
//           dlog_decay_t = sum over i from t to e of (q_i dq_i - k_i dk_i) + <S_e, D_e>
// where D_e lacks the part of e itself: what a decay multiplies is what came before it and is met
// at it or after it.
// Order     a task has a chunk of some heads, a worker each; its sums run from the last token on.
//           What a head's one decay gets is left chunk by chunk for core/column_totals.hpp.
// Numerics  products of 16-bit numbers, summed in fp32: dq, dk, S and D are rounded to T.
#pragma once
#include "backends/kernel.hpp"
#include "core/column_totals.hpp"
#include "core/vector.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T> struct decay_gradient {
  static constexpr int workers = be::chunk_workers, cluster = 1, stages = 3, own_slots = 1, R = 64;
  struct stage {
    shared_tile<T, R, R> a[workers], b[workers];
  };
  struct own {};
  struct scratch {
    shared_vec<float, R> tokens, states;
  };
  using source = be::source<T, R, R>;
  struct args {
    source q, dq, k, dk;
    source s, grad;        // images of states at the ends of chunks
    int pairs, images, C;  // tiles: of the columns of q, and of a state
    scan_rows rows;
    float scale;  // of grad
    decay_gradients to;
    float* totals;  // [chunks, stride], where heads have one decay each; or null
    int stride;
  };
  struct task {
    worker_heads heads;
    int block, steps;
    chunk_place at;
  };

  static TK_BOTH int tasks(args const& a) {
    return a.rows.blocks(a.C) * worker_heads::groups(a.rows.h, workers);
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const groups = worker_heads::groups(a.rows.h, workers), block = i / groups;
    auto const at = place_of_chunk(a.rows, block, a.C);
    return {
        {i % groups * workers, a.rows.h}, block, at.tokens > 0 ? 2 * a.pairs + a.images : 0, at};
  }

  // Columns of q and dq, of k and dk, then the states.
  static TK_DEVICE void load(stage& x, args const& a, task const& t, int step, be::arrival done) {
    int const col = step % a.pairs * R, end = t.at.row + t.at.tokens;
    TK_UNROLL
    for (int w = 0; w < workers; ++w) {
      int const head = t.heads.of(w);
      auto const both = [&](source const& left, source const& right) {
        load_async(x.a[w], window(left, t.at.row, col, head, t.at.batch, end), done);
        load_async(x.b[w], window(right, t.at.row, col, head, t.at.batch, end), done);
      };
      if (step < a.pairs) {
        both(a.q, a.dq);
      } else if (step < 2 * a.pairs) {
        both(a.k, a.dk);
      } else {
        int const row = (step - 2 * a.pairs) * R;
        load_async(x.a[w], window(a.s, row, 0, head, t.block), done);
        load_async(x.b[w], window(a.grad, row, 0, head, t.block), done);
      }
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const id = c.w.id(), head = t.heads.of(id);
    reg_col<float, R> tokens = 0.f, states = 0.f;
    for (int step = 0; step < t.steps; ++step) {
      auto const& x = c.in.take();
      reg_tile<T, R, R> left, right;
      tk::load(left, x.a[id]);
      tk::load(right, x.b[id]);
      release_loaded(c.w, c.in);
      auto const sum = row_sum_share(left * right);
      if (step < a.pairs) tokens = tokens + sum;
      else if (step < 2 * a.pairs) tokens = tokens - sum;
      else states = states + sum;
    }
    tk::store(c.scratch.tokens, total(tokens));
    tk::store(c.scratch.states, total(states));
    c.w.sync();
    float met = 0;
    for (float const x : c.scratch.states.data) met += x;
    met *= a.scale;
    bool const mine = t.heads.has(id);
    if (mine && !a.totals) {
      leave_tokens(c, a, t, head, met);
    } else if (mine && c.w.lane() == 0) {
      float all = met * t.at.tokens;
      for (int i = 0; i < t.at.tokens; ++i) all += c.scratch.tokens.data[i] * (i + 1);
      a.totals[std::int64_t{t.block} * a.stride + head] = -all;
    }
    c.w.sync();  // all have read the sums
  }

 private:
  template <class Context>
  static TK_DEVICE void leave_tokens(Context& c, args const& a, task const& t, int head,
                                     float met) {
    float* const to =
        a.to.data + t.at.batch * a.to.b_stride + t.at.row * a.to.n_stride + head * a.to.h_stride;
    for (int token = c.w.lane(); token < t.at.tokens; token += be::worker_lanes) {
      float sum = met;
      for (int i = t.at.tokens; i-- > token;) sum += c.scratch.tokens.data[i];
      to[token * a.to.n_stride] = sum;
    }
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
  auto const source = [](heads const& y) { return be::read_from<of::R, of::R>(typed<T const>(y)); };
  std::int64_t const size = x.state_size;
  auto const states = [&](void const* images) {
    return be::read_from<of::R, of::R>(
        images_of_states<T, of::R>(images, size, x.q.h, x.rows.blocks(x.C)));
  };
  be::launch<of>(
      {source(x.q), source(x.dq), source(x.k), source(x.dk), states(x.states), states(x.gradients),
       ceil_div(static_cast<int>(x.q.d), of::R), static_cast<int>(size / (of::R * of::R)), x.C,
       x.rows, x.scale, x.to, x.totals, x.stride},
      stream);
  if (!x.to.of_heads) return;
  typename column_totals<float>::args a{{}, 1, x.rows.blocks(x.C), x.rows.h, x.stride};
  a.of[0] = {x.totals, x.to.data, x.to.h_stride};
  be::launch<column_totals<float>>(a, stream);
}

}  // namespace tk
