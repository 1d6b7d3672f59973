// SPDX-License-Identifier: MIT
// attention backward where dq has a launch of its own (attention_backward_queries.hpp): dk and dv.
// With all three in one, and two workers with keys of their own, either dk and dv have half of
// their columns in a task, and scores are computed twice, or shared memory has no room to load
// ahead. Here, too, scores are computed twice, but nothing is added up in memory, and no block
// waits for another (at d 256 1.6 to 2.1 times as fast).
// Shapes    as attention_backward.hpp.
// Numerics  the same.
// Order     a task owns a block of keys of one key head and walks the queries of all its query
//           heads, the last ones first; dk and dv stay in registers: repeatable bit for bit.
// Overlap   all workers have the same keys. Each computes p and ds of its own queries, which go
//           through shared memory, and owns some columns of dk and dv, for which it needs those of
//           all. Everything is transposed (keys are rows). exp2 runs under dp. A slot is given back
//           as soon as its last product is over, so that the next q arrive under dv, dout under s.
#pragma once
#include "core/product.hpp"
#include "core/vector.hpp"
#include "ops/attention/attention_backward_prepare.hpp"
#include "ops/attention/backward_walk.hpp"

namespace tk {

template <class T, int D, mask_kind Mask, option_set Options = option_set::none>
struct attention_backward_keys {
  using cut = attention_backward_cut<D, Options>;
  static constexpr bool placed = cut::placed, general = Options == option_set::all;
  static constexpr auto tune = cut::tune;
  static constexpr int workers = cut::workers, cluster = 1, stages = tune.slots, own_slots = 1;
  static constexpr int N = cut::N, M = cut::M, C = D / workers;
  static constexpr bool causal = Mask == mask_kind::causal;
  static constexpr int slots_of_step = 2 * workers, owned = C;  // columns of dk and dv
  static_assert(stages >= slots_of_step, "a step has all its slots at once");
  using scores = reg_tile<float, N, M>;
  using rows_of_scores = reg_row<float, N, M>;

  struct stage {
    shared_tile<T, M, D> x;  // q or dout of a worker's rows
  };
  struct own {};
  struct common {
    shared_tile<T, N, D> k, v;
    shared_vec<float, M> lse[workers], delta[workers];  // of a step's rows
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
    std::conditional_t<placed, backward_options<T>, no_terms> with;
  };
  using task = backward_walk<placed>;

  static TK_BOTH int heads(args const& a) { return a.rows.sizes.hk * a.rows.sizes.b; }
  static TK_BOTH int tasks(args const& a) {
    return heads(a) * a.rows.sizes.template key_blocks<cut>();
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto const& x = a.rows.sizes;
    auto const at = grouped(i, heads(a), x.template key_blocks<cut>(), tune.group);
    auto t = walk_of<cut>(x, a.with, at.col, at.row);
    t.steps = x.group_heads * t.walked * slots_of_step;
    return t;
  }

  // The first row of a worker, of the block of queries and the head of step n.
  struct place {
    int head, block, row;
  };
  static TK_DEVICE place place_at(args const& a, task const& t, int n, int worker) {
    int const block = t.last - n % t.walked;
    return {t.head * a.rows.sizes.group_heads + n / t.walked, block,
            block * cut::queries + worker * M};
  }
  static TK_DEVICE std::int64_t in_workspace(args const& a, task const& t, place const& at) {
    int const before = (block_in_workspace(t, at.block) - at.block) * cut::queries;
    return a.rows.row(before + at.row, at.head, t.batch);
  }

  // Of a step, the workers' q first.
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const slot = step % slots_of_step;
    auto const at = place_at(a, t, step / slots_of_step, slot % workers);
    load_async(s.x, queries_at(slot < workers ? a.q : a.dout, t, at.row, 0, at.head), done);
  }
  static TK_DEVICE void load_common(common& s, args const& a, task const& t, be::arrival done) {
    load_async(s.k, keys_at(a.k, t, t.key_block * N, 0), done);
    load_async(s.v, keys_at(a.v, t, t.key_block * N, 0), done);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const w = c.w.id(), key = t.key_block * N;
    auto& kv = c.common.take();
    auto &lse = kv.lse[w], &delta = kv.delta[w];
    reg_tile<float, N, C> dk = 0.f, dv = 0.f;
    int const walk = t.steps / slots_of_step;
    fetched_vec<float, M> next_lse, next_delta;
    auto const fetch_rows = [&](int n) {
      auto const at = in_workspace(a, t, place_at(a, t, n, w));
      fetch(next_lse, a.rows.lse + at);
      fetch(next_delta, a.rows.delta + at);
    };
    if (walk > 0) {
      fetch_rows(0);
      store(lse, next_lse);
      store(delta, next_delta);
    }
    c.w.sync();  // they are there, and all lanes have taken what one gives back
    for (int n = 0; n < walk; ++n) {
      scores s, dp;
      if (n + 1 < walk) fetch_rows(n + 1);
      auto const at = place_at(a, t, n, w);
      take_slots(c);
      rows_of_scores lse_of;
      if constexpr (!general) tk::load(lse_of, lse);
      mm_abt(s, kv.k, c.in.peek(w).x);
      take_slots(c);
      mm_abt(dp, kv.v, c.in.peek(workers + w).x);
      if constexpr (general) {
        wait<0>(s, dp);
        weigh_with_options(s, dp, a.with, t.at, {key, at.row, at.head, a.rows.sizes.heads()},
                           a.scale_log2, as_row(lse), as_row(delta));
        if (n > 0) c.all.await();  // p and ds of the step before have been read
        store_relaxed(c.scratch.p, cast<T>(s));
      } else {
        wait<1>(s);
        s = exp2(s * a.scale_log2 - lse_of);
        apply_mask_transposed<attention_backward_keys>(s, a, t, key, at.row);
        if (n > 0) c.all.await();
        store_relaxed(c.scratch.p, cast<T>(s));
        wait<0>(dp);
        dp = s * (dp - as_row(delta));
      }
      store_relaxed(c.scratch.ds, cast<T>(dp));
      c.all.arrive();
      c.all.await();
      // A slot is given back when its product is over and the next one has been issued.
      TK_UNROLL
      for (int i = 0; i < slots_of_step; ++i) {
        auto const& x = columns<C>(c.in.peek(i > 0).x, w);
        if (i < workers) mma_ab(dk, c.scratches[i].ds, x);
        else mma_ab(dv, c.scratches[i - workers].p, x);
        if (i > 0) release<1>(c);
      }
      store(lse, next_lse);
      store(delta, next_delta);
      release<0>(c);
      wait<0>(dk, dv);
      c.all.arrive();
    }
    if (walk > 0) c.all.await();  // nobody reads k and v any more

    // No query: 0, whatever is in k and v.
    if (!placed && a.rows.sizes.nq == 0) dk = 0.f, dv = 0.f;
    dk = dk * a.scale;
    store_async(c.w, keys_at(a.dv, t, key, w * C), cast<T>(dv), columns<C>(kv.v, w));
    store_async(c.w, keys_at(a.dk, t, key, w * C), cast<T>(dk), columns<C>(kv.k, w));
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
