// SPDX-License-Identifier: MIT
// attention forward: o = softmax(scale * q k^T + mask) v, and lse (natural log) for the backward.
// Shapes    q[b, nq, hq, d], k[b, nk, hk, d], v[b, nk, hk, dv], o[b, nq, hq, dv],
//           lse[b, hq, nq]; hq % hk == 0; d and dv at most D; any nq, nk, also 0; any strides,
//           d contiguous.
// Numerics  scores, running max and sum in fp32, p rounded to T. A row that sees no key gives o = 0
//           and lse = -inf. The running max lags: weights are exp2(score - running_max), which may
//           exceed 1, and it moves only for rows whose sum grows by more than `largest_share` in a
//           step. Relative errors, and so o, are the same wherever it stands.
// Order     a worker walks its keys upward; whether a row's maximum moves depends on that row
//           alone: repeatable bit for bit.
// Overlap   ahead: the next scores and this step's o run while the worker does the softmax; turns:
//           workers issue their products in turn. Blocks that no row's mask cuts have a loop of
//           their own. (Online softmax: Milakov and Gimelshein, 2018; FlashAttention: Dao et al.,
//           2022; the overlap: FlashAttention-3, Shah et al., 2024.)
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

// `General`: what of it attention_general takes, in tiles of its own.
template <class T, int D, mask_kind Mask, bool General = false> struct attention_forward {
  static constexpr auto tune =
      General ? be::tune_attention_general(D) : be::tune_attention_forward(D);
  static constexpr int workers = tune.workers, cluster = 1, stages = tune.slots,
                       own_slots = tune.own_slots, M = tune.M, N = tune.N, group = 8;
  static constexpr bool causal = Mask == mask_kind::causal;
  static constexpr float lowest = std::numeric_limits<float>::lowest();  // running_max of no scores
  static constexpr float largest_share = 256;                            // far below fp16's 65504
  using scores = reg_tile<float, M, N>;
  using weights = reg_tile<T, M, N>;
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

  // p = exp2(scaled score - running_max), rounded; returns each lane's share of a row's sum.
  static TK_DEVICE column weigh(weights& p, scores const& s, column const& running_max,
                                float scale_log2) {
    return cast_with_sum(p, exp2(s * scale_log2 - running_max));
  }
  // Most steps neither look for a maximum nor rescale. Where a lane's share of a row's sum has
  // outgrown `largest_share`, that row's maximum moves up to that of its scores; returns the factor
  // for what was summed before, 1 in the other rows.
  static TK_DEVICE column move_max(weights& p, column& share, scores const& s, column& running_max,
                                   float scale_log2) {
    auto const top = where_above(across<larger>(share), largest_share,
                                 max(running_max, row_max(s) * scale_log2), running_max);
    auto const rescale = exp2(running_max - top);
    running_max = top;
    share = weigh(p, s, running_max, scale_log2);
    return rescale;
  }

  // Blocks of keys that all rows of a worker, from `row` on, see whole, from the first one on.
  static TK_DEVICE int unmasked(args const& a, int row) {
    int const seen = causal && row + 1 + a.nk - a.nq < a.nk ? row + 1 + a.nk - a.nq : a.nk;
    return seen < 0 || a.prescale != 1.f ? 0 : seen / N;
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const row = t.row + c.w.id() * M, whole = unmasked(a, row);
    auto& q = c.own.take().q;
    reg_tile<float, M, D> o = 0.f;
    column running_max = lowest, running_sum = 0.f;
    scores s;
    weights p;

    mm_abt(s, q, c.in.take().kv);
    wait<0>(s);
    c.in.release();
    apply_mask(s, a, row, 0);
    running_max = max(running_max, row_max(s) * a.scale_log2);
    running_sum = weigh(p, s, running_max, a.scale_log2);

    auto const step = [&](int block, bool masked) {
      weights spare;
      weights& next =
          tune.ahead ? spare : p;  // this step's, while products may read the last one's
      if constexpr (tune.ahead) {
        auto& k = c.in.take();
        if constexpr (tune.turns) c.turn.await();
        mm_abt(s, q, k.kv);
        mma_ab(o, p, c.in.take().kv);
        if constexpr (tune.turns) c.turn.pass();
        wait<1>(s);
        c.in.release();
      } else {
        mma_ab(o, p, c.in.take().kv);
        wait<0>(o, p);
        c.in.release();
        mm_abt(s, q, c.in.take().kv);
        wait<0>(s);
        c.in.release();
      }
      if (masked) apply_mask(s, a, row, block * N);
      column share = weigh(next, s, running_max, a.scale_log2);
      if (any_above(share, largest_share)) {
        if constexpr (tune.ahead) wait<0>(o, p);
        auto const rescale = move_max(next, share, s, running_max, a.scale_log2);
        o = o * rescale;
        running_sum = running_sum * rescale;
      }
      c.in.try_wait();
      running_sum = running_sum + share;
      if constexpr (tune.ahead) {
        wait<0>(o, p);
        c.in.release();
        take_over(p, next);
      }
    };
    int block = 1;
    for (; block < whole; ++block) step(block, false);
    for (; block < t.blocks; ++block) step(block, true);
    c.own.release();
    mma_ab(o, p, c.in.take().kv);
    wait<0>(o, p);
    c.in.release();

    running_sum = total(running_sum);
    o = o * where_equal(running_sum, 0.f, 0.f, reciprocal(running_sum));  // 0 where no key is seen
    if (a.lse)
      store(a.lse + t.batch * a.lse_b_stride + t.head * a.lse_h_stride + row,
            where_equal(running_sum, 0.f, -inf, (running_max + log2(running_sum)) * ln_2),
            a.nq - row);
    store(window(a.o, row, 0, t.head, t.batch), cast<T>(o));
  }
};

}  // namespace tk
