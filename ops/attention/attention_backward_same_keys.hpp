// SPDX-License-Identifier: MIT
// attention backward where all workers of a block have the same keys, and dq comes with dk and dv:
// attention_backward_keys.hpp says how the workers share them.
// Shapes    as attention_backward.hpp.
// Numerics  the same.
// Order     the same, of dq, too (backward_dq.hpp).
// Overlap   a worker's dq is that of its own queries and needs its own ds alone: it runs while
//           others store theirs. Slots are given back as soon as their last product is over, so
//           that the next q arrive under dv, dout under s.
#pragma once
#include "ops/attention/attention_backward_keys.hpp"
#include "ops/attention/backward_dq.hpp"

namespace tk {

template <class T, int D, mask_kind Mask, option_set Options = option_set::none>
struct attention_backward_same_keys : attention_backward_keys<T, D, Mask, Options> {
  using base = attention_backward_keys<T, D, Mask, Options>;
  using base::C, base::M, base::N, base::general, base::placed, base::slots_of_step, base::workers;
  using typename base::cut, typename base::rows_of_scores, typename base::scores,
      typename base::stage, typename base::task;
  static_assert(D > 0 && !be::has_async_products,
                "products of a step are over where their slots go back");
  using pieces = backward_dq<T, cut>;
  // Where there are few slots, those of q are filled while dv needs its own.
  static constexpr bool refills = base::stages < 2 * slots_of_step;

  struct common : base::common {
    shared_vec<float, M> other_lse[workers], other_delta[workers];  // of every other step
  };
  struct args : base::args {
    tensor<T> dq;
  };

  static TK_BOTH task task_at(args const& a, int i, int) {
    auto const& x = a.rows.sizes;
    auto const at =
        grouped(i, base::heads(a), x.template key_blocks<cut>(), x.template heads_together<cut>());
    auto t = walk_of<cut>(x, a.with, at.col, at.row);
    t.steps = x.group_heads * t.walked * slots_of_step;
    return t;
  }
  // Of a step, the workers' q first.
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const slot = step % slots_of_step;
    int n = step / slots_of_step, head = t.head * a.rows.sizes.group_heads;
    if (n >= t.walked) head += n / t.walked, n %= t.walked;
    int const row = (t.last - n) * cut::queries + slot % workers * M;
    load_async(s.x, queries_at(slot < workers ? a.q : a.dout, t, row, 0, head), done);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const w = c.w.id(), key = t.key_block * N;
    auto& kv = c.common.take();
    reg_tile<float, N, C> dk = 0.f, dv = 0.f;
    auto at = pieces::first(a, t);
    fetched_vec<float, M> next_lse, next_delta;
    auto const fetch_rows = [&](block_of_queries const& of) {
      auto const row = std::int64_t{of.index} * cut::queries + w * M;
      fetch(next_lse, a.rows.lse + row);
      fetch(next_delta, a.rows.delta + row);
    };
    int walk = t.steps / slots_of_step;
    if (walk > 0) {
      fetch_rows(at);
      store(kv.lse[w], next_lse);
      store(kv.delta[w], next_delta);
    }
    c.w.sync();  // they are there, and all lanes have taken what one gives back
    int passed = pieces::none;
    for (bool is_first = true, odd = false; walk > 0; --walk, is_first = false, odd = !odd) {
      scores s, dp;
      auto &lse = odd ? kv.other_lse[w] : kv.lse[w], &delta = odd ? kv.other_delta[w] : kv.delta[w];
      auto const next = pieces::next(a, t, at);
      if (walk > 1) fetch_rows(next);
      int const row = at.block * cut::queries + w * M;
      take_slots(c);
      rows_of_scores lse_of;
      if constexpr (!general) tk::load(lse_of, lse);
      mm_abt(s, kv.k, c.in.peek(w).x);
      take_slots(c);
      mm_abt(dp, kv.v, c.in.peek(workers + w).x);
      if constexpr (general) {
        weigh_with_options(s, dp, a.with, t.at, {key, row, at.head, a.rows.sizes.heads()},
                           a.scale_log2, as_row(lse), as_row(delta));
      } else {
        s = exp2(s * a.scale_log2 - lse_of);
        apply_mask_transposed<attention_backward_same_keys>(s, a, t, key, row);
        dp = s * (dp - as_row(delta));
      }
      if (!is_first) c.all.await();  // p and ds of the step before have been read
      store_relaxed(c.scratch.p, cast<T>(s));
      store_relaxed(c.scratch.ds, cast<T>(dp));
      store(odd ? kv.lse[w] : kv.other_lse[w], next_lse);
      store(odd ? kv.delta[w] : kv.other_delta[w], next_delta);
      c.all.arrive();
      pieces const piece(c.w, a, t, at);
      c.w.sync();  // the worker's ds is there
      TK_UNROLL
      for (int part = 0; part < piece.at_once; ++part) {
        typename pieces::tile dq;
        mm_atb(dq, columns<pieces::H>(kv.k, part), c.scratch.ds);
        piece.add(c.w, a, t, row, at.head, part, dq);
      }
      c.all.await();
      pieces::pass(c.w, a, passed);
      passed = pieces::to_pass(t, at);
      TK_UNROLL
      for (int i = 0; i < workers; ++i)
        mma_ab(dk, c.scratches[i].ds, columns<C>(c.in.peek(i).x, w));
      release_slots(c);
      TK_UNROLL
      for (int i = 0; i < workers; ++i) {
        mma_ab(dv, c.scratches[i].p, columns<C>(c.in.peek(i).x, w));
        if constexpr (refills) {
          if (i + 1 < workers) c.in.refill();  // all have released slots of q by now
        }
      }
      release_slots(c);
      c.all.arrive();
      at = next;
    }
    if (t.steps > 0) c.all.await();  // nobody reads k and v any more
    pieces::pass(c.w, a, passed);

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
  template <class Context> static TK_DEVICE void release_slots(Context& c) {
    TK_UNROLL
    for (int of = 0; of < workers; ++of) c.in.release();
  }
};

}  // namespace tk
