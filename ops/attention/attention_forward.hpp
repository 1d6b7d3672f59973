// SPDX-License-Identifier: MIT
// attention forward: o = softmax(scale * q k^T + mask) v, and lse (natural log) for the backward.
// Shapes    q[b, nq, hq, d], k[b, nk, hk, d], v[b, nk, hk, dv], o[b, nq, hq, dv],
//           lse[b, hq, nq]; hq % hk == 0; d and dv at most D; any nq, nk, also 0; any strides,
//           d contiguous.
// Numerics  scores, running max and sum in fp32, p rounded to T. A row that sees no key gives o = 0
//           and lse = -inf.
// Order     a worker walks its keys upward: repeatable bit for bit.
// Overlap   ahead: the next scores and this step's o run while the worker does the softmax; turns:
//           workers issue their products in turn. (Online softmax: Milakov and Gimelshein, 2018;
//           FlashAttention: Dao et al., 2022; the overlap: FlashAttention-3, Shah et al., 2024.)
#pragma once
#include <limits>

#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/product.hpp"
#include "core/reduce.hpp"
#include "core/schedule.hpp"
#include "ops/attention/problem.hpp"
#include "ops/attention/tuning.hpp"

namespace tk {

template <class T, int D, mask_kind Mask> struct attention_forward {
  static constexpr auto tune = be::tune_attention_forward(D);
  static constexpr int workers = tune.workers, cluster = 1, stages = tune.slots,
                       own_slots = tune.own_slots, M = tune.M, N = tune.N, group = 8;
  static constexpr bool causal = Mask == mask_kind::causal;
  static constexpr float lowest = std::numeric_limits<float>::lowest();  // running_max of no scores
  using scores = reg_tile<float, M, N>;
  using column = reg_col<float, M>;

  struct stage {
    shared_tile<T, N, D> kv;  // keys or values
  };
  struct own {
    shared_tile<T, M, D> q;
  };
  struct scratch {};
  struct args {
    be::source<T, M, D> q;
    be::source<T, N, D> kv[2];
    be::sink<T, M, D> o;
    float* lse;  // [b, hq, nq], or null
    std::int64_t lse_b_stride, lse_h_stride;
    unsigned* tickets;  // null where tasks are dealt in rounds
    int nq, nk, hq, group_heads, b;
    float prescale;    // 1, or what scores are multiplied by before the maximum is taken
    float scale_log2;  // positive; what they are multiplied by inside exp2
  };
  struct task {
    int row, head, batch, blocks, steps;  // blocks of N keys; two steps each
  };

  static TK_BOTH int tasks(args const& a) { return ceil_div(a.nq, workers * M) * a.hq * a.b; }
  // Causal: the longest tasks first.
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const tiles = ceil_div(a.nq, workers * M);
    auto const at = grouped(i, a.hq * a.b, tiles, causal ? group : 1);
    int const row = (causal ? tiles - 1 - at.col : at.col) * workers * M;
    int const seen = causal ? row + workers * M + a.nk - a.nq : a.nk;
    int const keys = seen < 1 ? 1 : seen < a.nk ? seen : a.nk;
    int const blocks = keys < 1 ? 1 : ceil_div(keys, N);
    return {row, at.row % a.hq, at.row / a.hq, blocks, 2 * blocks};
  }

  // In the order in which compute takes them: k0 v0 k1 v1 ..., or, ahead, k0 k1 v0 k2 v1 ...
  // v(n-1).
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    bool value = step % 2 == 1;
    int block = step / 2;
    if constexpr (tune.ahead) {
      value = step + 1 == t.steps || (step > 0 && !value);
      block = (value ? step - 1 : step + 1) / 2;
    }
    load_async(s.kv, window(a.kv[value], block * N, 0, t.head / a.group_heads, t.batch), done);
  }
  static TK_DEVICE void load_own(own& s, args const& a, task const& t, int worker,
                                 be::arrival done) {
    load_async(s.q, window(a.q, t.row + worker * M, 0, t.head, t.batch), done);
  }

  static TK_DEVICE void apply_mask(scores& s, args const& a, int row, int key) {
    if (a.prescale != 1.f) s = s * a.prescale;
    if (key + N > a.nk) keep_cols(s, a.nk - key, -inf);
    if (int const diagonal = row + a.nk - a.nq - key; causal && diagonal < N - 1)
      keep_lower(s, diagonal, -inf);
  }

  // s becomes exp2(scaled score - running_max); returns the factor for what was summed
  // before.
  static TK_DEVICE column online_softmax(scores& s, column& running_max, column& running_sum,
                                         float scale_log2) {
    auto const top = max(running_max, row_max(s) * scale_log2);
    auto const rescale = exp2(running_max - top);
    s = exp2(s * scale_log2 - top);
    running_sum = running_sum * rescale + row_sum_share(s);
    running_max = top;
    return rescale;
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const row = t.row + c.w.id() * M;
    auto& q = c.own.take().q;
    reg_tile<float, M, D> o = 0.f;
    column running_max = lowest, running_sum = 0.f;
    scores s;
    reg_tile<T, M, N> p;

    if constexpr (!tune.ahead) {
      for (int block = 0; block < t.blocks; ++block) {
        mm_abt(s, q, c.in.take().kv);
        wait<0>(s);
        c.in.release();
        apply_mask(s, a, row, block * N);
        o = o * online_softmax(s, running_max, running_sum, a.scale_log2);
        p = cast<T>(s);
        mma_ab(o, p, c.in.take().kv);
        wait<0>(o, p);
        c.in.release();
      }
    } else {
      mm_abt(s, q, c.in.take().kv);
      wait<0>(s);
      c.in.release();
      apply_mask(s, a, row, 0);
      online_softmax(s, running_max, running_sum, a.scale_log2);
      p = cast<T>(s);
      for (int block = 1; block < t.blocks; ++block) {
        auto& k = c.in.take().kv;
        if constexpr (tune.turns) c.turn.await();
        mm_abt(s, q, k);
        mma_ab(o, p, c.in.take().kv);
        if constexpr (tune.turns) c.turn.pass();
        wait<1>(s);
        c.in.release();
        apply_mask(s, a, row, block * N);
        auto const rescale = online_softmax(s, running_max, running_sum, a.scale_log2);
        wait<0>(o, p);
        c.in.release();
        o = o * rescale;
        p = cast<T>(s);
      }
      mma_ab(o, p, c.in.take().kv);
      wait<0>(o, p);
      c.in.release();
    }

    running_sum = total(running_sum);
    o = o * where_equal(running_sum, 0.f, 0.f, reciprocal(running_sum));  // 0 where no key is seen
    if (a.lse)
      store(a.lse + t.batch * a.lse_b_stride + t.head * a.lse_h_stride + row,
            where_equal(running_sum, 0.f, -inf, (running_max + log2(running_sum)) * ln_2),
            a.nq - row);
    store_async(c.w, window(a.o, row, 0, t.head, t.batch), cast<T>(o), q);
    c.own.release_when_stored();
  }
};

}  // namespace tk
