// SPDX-License-Identifier: MIT
// attention backward where dk, dv and dq of a block don't fit in registers together
// (attention_backward_tuning::split): dq. attention_backward_keys.hpp has dk and dv.
// Shapes    as attention_backward.hpp.
// Numerics  the same; dq is summed in registers.
// Order     a worker walks its keys upward: repeatable bit for bit, whatever other rows there are.
// Overlap   while a worker makes ds, the others' products run. dp is first, so that the next keys
//           may arrive in place of the values during the rest of a step.
#pragma once
#include "core/product.hpp"
#include "core/vector.hpp"
#include "ops/attention/attention_backward_prepare.hpp"
#include "ops/attention/backward_terms.hpp"

namespace tk {

template <class T, int D, mask_kind Mask> struct attention_backward_queries {
  using cut = attention_backward_cut<D, false>;
  static constexpr auto tune = be::tune_attention_backward_queries(D);
  static constexpr int workers = tune.workers, cluster = 1, stages = tune.slots,
                       own_slots = tune.own_slots, M = tune.M, N = tune.N, group = 8;
  static constexpr int height = workers * M;
  static constexpr bool causal = Mask == mask_kind::causal;
  using scores = reg_tile<float, M, N>;

  struct stage {
    shared_tile<T, N, D> kv;  // keys or values
  };
  struct own {
    shared_tile<T, M, D> q, dout;
  };
  struct scratch {};
  struct args {
    be::source<T, M, D> q, dout;
    be::source<T, N, D> k, v;
    be::sink<T, M, D> dq;
    attention_backward_rows<cut> rows;
    unsigned* tickets;
    float scale, scale_log2;
  };
  struct task {
    int row, head, batch, blocks, steps;  // blocks of N keys; two steps each
  };

  static TK_BOTH int tasks(args const& a) {
    auto const& x = a.rows.sizes;
    return ceil_div(x.nq, height) * x.heads() * x.b;
  }
  // Causal: the longest tasks first.
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto const& x = a.rows.sizes;
    int const tiles = ceil_div(x.nq, height);
    auto const at = grouped(i, x.heads() * x.b, tiles, causal ? group : 1);
    int const row = (causal ? tiles - 1 - at.col : at.col) * height;
    int const end = row + height < x.nq ? row + height : x.nq;
    int const seen = causal ? end + x.nk - x.nq : x.nk;
    int const blocks = seen < 1 ? 0 : ceil_div(seen, N);
    return {row, at.row % x.heads(), at.row / x.heads(), blocks, 2 * blocks};
  }

  // v0 k0 v1 k1 ..., because values are done with first.
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    load_async(s.kv,
               window(step % 2 == 0 ? a.v : a.k, step / 2 * N, 0, t.head / a.rows.sizes.group_heads,
                      t.batch),
               done);
  }
  static TK_DEVICE void load_own(own& s, args const& a, task const& t, int worker,
                                 be::arrival done) {
    load_async(s.q, window(a.q, t.row + worker * M, 0, t.head, t.batch), done);
    load_async(s.dout, window(a.dout, t.row + worker * M, 0, t.head, t.batch), done);
  }

  static TK_DEVICE void apply_mask(scores& p, args const& a, int row, int key) {
    auto const& x = a.rows.sizes;
    if (key + N > x.nk) keep_cols(p, x.nk - key, 0.f);
    if (int const diagonal = row + x.nk - x.nq - key; causal && diagonal < N - 1)
      keep_lower(p, diagonal, 0.f);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const row = t.row + c.w.id() * M, left = a.rows.sizes.nq - row;
    auto const at = a.rows.row(row, t.head, t.batch);
    auto const lse = load_col<M>(a.rows.lse + at, left, inf);
    auto const delta = load_col<M>(a.rows.delta + at, left, 0.f);
    auto& own = c.own.take();
    reg_tile<float, M, D> dq = 0.f;
    reg_tile<T, M, N> ds;
    for (int block = 0; block < t.blocks; ++block) {
      scores s, dp;
      mm_abt(dp, own.dout, c.in.take().kv);
      auto const& k = c.in.take().kv;
      mm_abt(s, own.q, k);
      wait<1>(dp);
      c.in.release();
      wait<0>(s);
      s = exp2(s * a.scale_log2 - lse);
      apply_mask(s, a, row, block * N);
      ds = cast<T>(s * (dp - delta));
      mma_ab(dq, ds, k);
      wait<0>(dq, ds);
      c.in.release();
    }
    c.own.release();
    dq = dq * a.scale;
    store(window(a.dq, row, 0, t.head, t.batch), cast<T>(dq));
  }
};

}  // namespace tk
