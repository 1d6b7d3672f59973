// SPDX-License-Identifier: MIT
// attention backward where dq has a launch of its own: that one. attention_backward_keys.hpp has dk
// and dv.
// Shapes    as attention_backward.hpp.
// Numerics  the same; dq is summed in registers.
// Order     a worker walks the keys that its block's rows see upward: repeatable bit for bit,
//           whatever other rows there are.
// Overlap   while a worker makes ds, the others' products run. dp is first, so that the next keys
//           arrive in place of the values during the rest of a step.
#pragma once
#include "core/product.hpp"
#include "core/vector.hpp"
#include "ops/attention/attention_backward_prepare.hpp"
#include "ops/attention/backward_terms.hpp"

namespace tk {

template <class T, int D, mask_kind Mask, option_set Options = option_set::none>
struct attention_backward_queries {
  using cut = attention_backward_cut<D, Options>;
  static constexpr bool placed = cut::placed, general = Options == option_set::all;
  static constexpr auto tune = cut::tune.queries;
  static constexpr int workers = tune.workers, cluster = 1, stages = tune.slots, own_slots = 1,
                       M = tune.M, N = tune.N, group = 8;
  static constexpr int height = workers * M;
  static_assert(height == cut::queries, "both launches have the same blocks of queries");
  static constexpr bool causal = Mask == mask_kind::causal;
  using scores = reg_tile<float, M, N>;
  using column = reg_col<float, M>;

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
    std::conditional_t<placed, backward_options<T>, no_terms> with;
  };
  struct task {
    int row, head, batch;      // of queries
    int first, blocks, steps;  // blocks of N keys; two steps each
    std::conditional_t<placed, backward_place, no_place> at;
  };

  static TK_BOTH int heads(args const& a) { return a.rows.sizes.heads() * a.rows.sizes.b; }
  static TK_BOTH int tasks(args const& a) {
    return a.rows.sizes.template query_blocks<cut>() * heads(a);
  }
  // Under a causal mask the longest tasks first.
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto const& x = a.rows.sizes;
    int const count = x.template query_blocks<cut>(), together = causal || placed ? group : 1;
    auto const at = grouped(i, heads(a), count, together < heads(a) ? together : heads(a));
    int block = causal || placed ? count - 1 - at.col : at.col;
    task t{};
    t.head = at.row % x.heads();
    t.batch = at.row / x.heads();
    range keys{0, x.nk};
    if constexpr (placed) {
      auto const& terms = a.with.terms;
      bool const packed = terms.packed();
      t.at = place_of<cut>(x, terms, packed ? terms.q.sequence_of(block, height) : t.batch);
      block -= t.at.first_block;
      if (block < 0 || block * height >= t.at.of.nq) block = ceil_div(t.at.of.nq, height);
      t.row = block * height;
      keys = t.row < t.at.of.nq ? terms.seen.keys_seen(t.at.of, t.row, height) : range{0, 0};
    } else {
      t.row = block * height;
      int const end = t.row + height < x.nq ? t.row + height : x.nq;
      if (causal && end + x.nk - x.nq < x.nk) keys.last = end + x.nk - x.nq;
    }
    auto const blocks = blocks_of(keys, N);
    t.first = blocks.first;
    t.blocks = blocks.last - blocks.first;
    t.steps = 2 * t.blocks;
    return t;
  }

  template <class X> static TK_DEVICE auto rows_at(X const& x, task const& t, int row) {
    if constexpr (placed) {
      auto const& of = t.at.of;
      return window(x, of.q_start + row, 0, t.head, t.batch, of.q_start + of.nq);
    } else {
      return window(x, row, 0, t.head, t.batch);
    }
  }
  // v0 k0 v1 k1 ...: values are done with first.
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    auto const& x = step % 2 == 0 ? a.v : a.k;
    int const key = (t.first + step / 2) * N, head = t.head / a.rows.sizes.group_heads;
    if constexpr (placed) {
      auto const& of = t.at.of;
      load_async(s.kv, window(x, of.k_start + key, 0, head, t.batch, of.k_start + of.nk), done);
    } else {
      load_async(s.kv, window(x, key, 0, head, t.batch), done);
    }
  }
  static TK_DEVICE void load_own(own& s, args const& a, task const& t, int worker,
                                 be::arrival done) {
    load_async(s.q, rows_at(a.q, t, t.row + worker * M), done);
    load_async(s.dout, rows_at(a.dout, t, t.row + worker * M), done);
  }

  static TK_DEVICE void apply_mask(scores& p, args const& a, task const& t, int row, int key) {
    auto const& x = a.rows.sizes;
    if constexpr (placed) return keep_seen(p, a.with.terms.seen, t.at.of, row, key, 0.f);
    if (key + N > x.nk) keep_cols(p, x.nk - key, 0.f);
    if (int const diagonal = row + x.nk - x.nq - key; causal && diagonal < N - 1)
      keep_lower(p, diagonal, 0.f);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const row = t.row + c.w.id() * M;
    int first_row = 0, left = a.rows.sizes.nq - row;
    [[maybe_unused]] float slope = 0.f;
    if constexpr (placed) {
      first_row = t.at.first_block * height, left = t.at.of.nq - row;
      if constexpr (general) slope = a.with.terms.slope(t.at.batch, t.head);
    }
    auto const in_workspace = a.rows.row(first_row + row, t.head, t.batch);
    column const lse = load_col<M>(a.rows.lse + in_workspace, left, inf),
                 delta = load_col<M>(a.rows.delta + in_workspace, left, 0.f);
    auto& own = c.own.take();
    reg_tile<float, M, D> dq = 0.f;
    reg_tile<T, M, N> ds;
    for (int block = t.first; block < t.first + t.blocks; ++block) {
      scores s, dp;
      mm_abt(dp, own.dout, c.in.take().kv);
      auto const& k = c.in.take().kv;
      mm_abt(s, own.q, k);
      wait<1>(dp);
      c.in.release();
      wait<0>(s);
      if constexpr (general) {
        weigh_rows_with_options<true>(s, dp, a.with, t.at,
                                      {block * N, row, t.head, a.rows.sizes.heads()}, slope,
                                      a.scale_log2, lse, delta);
      } else {
        s = exp2(s * a.scale_log2 - lse);
        apply_mask(s, a, t, row, block * N);
        dp = s * (dp - delta);
      }
      ds = cast<T>(dp);
      mma_ab(dq, ds, k);
      wait<0>(dq, ds);
      c.in.release();
    }
    if (t.blocks == 0) c.w.sync();  // all lanes have taken what one gives back
    c.own.release();
    dq = dq * a.scale + 0.f;  // zeros are +0, as where no key is seen
    store(rows_at(a.dq, t, row), cast<T>(dq));
  }
};

}  // namespace tk
