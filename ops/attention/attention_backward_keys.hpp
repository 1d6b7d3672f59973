// SPDX-License-Identifier: MIT
// attention backward where dk, dv and dq of a block don't fit in registers together
// (attention_backward_tuning::split): dk and dv. attention_backward_queries.hpp has dq.
// Shapes    as attention_backward.hpp.
// Numerics  the same.
// Order     a task owns a block of keys of one key head and walks the queries of all its query
//           heads, the last ones first; dk and dv stay in registers: repeatable bit for bit.
// Overlap   all workers have the same keys. Each computes p and ds of its own queries, which go
//           through shared memory, and owns some columns of dk and dv, for which it needs those of
//           all. Everything is transposed (keys are rows). exp2 runs under dp; the next step's
//           queries arrive under dv, its dout under s.
#pragma once
#include "core/product.hpp"
#include "core/vector.hpp"
#include "ops/attention/attention_backward_prepare.hpp"
#include "ops/attention/backward_terms.hpp"

namespace tk {

template <class T, int D, mask_kind Mask> struct attention_backward_keys {
  using cut = attention_backward_cut<D, false>;
  static constexpr auto tune = cut::tune;
  static constexpr int workers = cut::workers, cluster = 1, stages = tune.slots, own_slots = 1;
  static constexpr int N = cut::N, M = cut::M, C = D / workers;
  static constexpr int slots_of_step = 2 * workers;
  static constexpr bool causal = Mask == mask_kind::causal;
  static_assert(stages >= slots_of_step);
  using scores = reg_tile<float, N, M>;
  using rows_of_scores = reg_row<float, N, M>;

  struct stage {
    shared_tile<T, M, D> x;  // a worker's q or dout
  };
  struct own {};
  struct common {
    shared_tile<T, N, D> k, v;
    shared_vec<float, M> lse[workers], delta[workers];
  };
  struct scratch {
    shared_tile<T, N, M> p, ds;
  };
  struct args {
    be::source<T, M, D> q, dout;
    be::source<T, N, D> k, v;
    be::sink<T, N, C> dk, dv;
    attention_backward_rows<cut> rows;
    unsigned* tickets;
    float scale, scale_log2;
  };
  struct task {
    int key_block, head, batch;  // head: of keys
    int last, walked, steps;     // blocks of queries: last, last - 1, ... of each query head
  };

  static TK_BOTH int heads(args const& a) { return a.rows.sizes.hk * a.rows.sizes.b; }
  static TK_BOTH int tasks(args const& a) {
    return heads(a) * a.rows.sizes.template key_blocks<cut>();
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto const& x = a.rows.sizes;
    auto const at = grouped(i, heads(a), x.template key_blocks<cut>(), tune.group);
    int const last = x.template query_blocks<cut>() - 1;
    int const walked = last + 1 - x.template first_query_block<cut>(at.col);
    return {at.col,
            at.row % x.hk,
            at.row / x.hk,
            last,
            walked,
            x.group_heads * walked * slots_of_step};
  }

  // Of a step, the workers' q first.
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const n = step / slots_of_step, slot = step % slots_of_step;
    bool const is_q = slot < workers;
    int const head = t.head * a.rows.sizes.group_heads + n / t.walked;
    int const row = (t.last - n % t.walked) * cut::queries + slot % workers * M;
    load_async(s.x, window(is_q ? a.q : a.dout, row, 0, head, t.batch), done);
  }
  static TK_DEVICE void load_common(common& s, args const& a, task const& t, be::arrival done) {
    load_async(s.k, window(a.k, t.key_block * N, 0, t.head, t.batch), done);
    load_async(s.v, window(a.v, t.key_block * N, 0, t.head, t.batch), done);
  }

  static TK_DEVICE void apply_mask(scores& p, args const& a, int key, int query) {
    auto const& x = a.rows.sizes;
    if (key + N > x.nk) keep_rows(p, x.nk - key, 0.f);
    if (int const diagonal = query + x.nk - x.nq - key; causal && diagonal < N - 1)
      keep_upper(p, diagonal, 0.f);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const w = c.w.id(), key = t.key_block * N;
    auto& kv = c.common.take();
    reg_tile<float, N, C> dk = 0.f, dv = 0.f;
    int block = t.last, head = t.head * a.rows.sizes.group_heads;
    fetched_vec<float, M> next_lse, next_delta;
    auto const fetch_rows = [&](int block, int head) {
      auto const at = a.rows.row(block * cut::queries + w * M, head, t.batch);
      fetch(next_lse, a.rows.lse + at);
      fetch(next_delta, a.rows.delta + at);
    };
    auto const put_rows = [&] {
      store(kv.lse[w], next_lse);
      store(kv.delta[w], next_delta);
    };
    fetch_rows(block, head);
    c.w.sync();
    put_rows();
    c.w.sync();
    int const walk = t.steps / slots_of_step;
    for (int n = 0; n < walk; ++n) {
      scores s, dp;
      rows_of_scores lse;
      int const query = block * cut::queries + w * M;
      if (--block == t.last - t.walked) block = t.last, ++head;
      if (n + 1 < walk) fetch_rows(block, head);
      take_slots(c);
      auto const& q = c.in.peek(w);
      tk::load(lse, kv.lse[w]);
      mm_abt(s, kv.k, q.x);
      take_slots(c);
      auto const& dout = c.in.peek(workers + w);
      mm_abt(dp, kv.v, dout.x);
      wait<1>(s);
      s = exp2(s * a.scale_log2 - lse);
      apply_mask(s, a, key, query);
      if (n > 0) c.all.await();  // p and ds of the step before have been read
      store_relaxed(c.scratch.p, cast<T>(s));
      wait<0>(dp);
      dp = s * (dp - as_row(kv.delta[w]));
      store_relaxed(c.scratch.ds, cast<T>(dp));
      c.all.arrive();
      c.all.await();
      // A slot is given back as soon as its product is over, and the next one's has been issued.
      TK_UNROLL
      for (int i = 0; i < slots_of_step; ++i) {
        int const of = i % workers;
        auto const& x = columns<C>(c.in.peek(i > 0).x, w);
        if (i < workers) mma_ab(dk, c.scratches[of].ds, x);
        else mma_ab(dv, c.scratches[of].p, x);
        if (i > 0) release<1>(c);
      }
      put_rows();
      release<0>(c);
      wait<0>(dk, dv);
      c.all.arrive();
    }
    c.all.await();  // nobody reads k and v any more

    // No query: 0, whatever is in k and v.
    if (a.rows.sizes.nq == 0) dk = 0.f, dv = 0.f;
    dk = dk * a.scale;
    store_async(c.w, window(a.dv, key, w * C, t.head, t.batch), cast<T>(dv), columns<C>(kv.v, w));
    store_async(c.w, window(a.dk, key, w * C, t.head, t.batch), cast<T>(dk), columns<C>(kv.k, w));
    c.common.release_when_stored();
  }

 private:
  template <class Context> static TK_DEVICE void take_slots(Context& c) {
    TK_UNROLL
    for (int of = 0; of < workers; ++of) c.in.take();
  }
  template <int Running, class Context> static TK_DEVICE void release(Context& c) {
    wait<Running>();
    c.w.sync();
    c.in.release();
  }
};

}  // namespace tk
