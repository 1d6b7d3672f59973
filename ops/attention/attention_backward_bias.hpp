// SPDX-License-Identifier: MIT
// attention backward, the gradient of a bias: dbias = p (z dp - delta), with what
// backward_terms.hpp says of p, z and dp, and 0 where a row does not see a key.
// Shapes    as attention_backward.hpp; dbias[b or 1, hq or 1, nq, nk], a sum over what is 1.
// Numerics  fp32; rounded once.
// Order     a task is a tile of dbias; it computes scores again for one batch and head after
//           another, in ascending order, and sums in registers: repeatable bit for bit.
#pragma once
#include "core/product.hpp"
#include "ops/attention/attention_backward_prepare.hpp"

namespace tk {

template <class T, int D> struct attention_backward_bias {
  using cut = attention_backward_cut<D, option_set::all>;
  static constexpr int workers = cut::workers, cluster = 1, own_slots = 1;
  static constexpr int R = cut::N, C = cut::M;  // rows of a worker, keys of a task
  static constexpr int P = 64, parts = D / P, height = workers * R;
  using tile = reg_tile<float, R, C>;

  struct stage {  // a part of the columns
    shared_tile<T, R, P> q[workers], dout[workers];
    shared_tile<T, C, P> k, v;
  };
  static constexpr int fitting = (be::smem_bytes - 8192) / int{sizeof(stage)};
  static constexpr int stages = fitting < 1 ? 1 : fitting < 4 ? fitting : 4;
  struct own {};
  struct scratch {};
  struct args {
    be::source<T, R, P> q, dout;
    be::source<T, C, P> k, v;
    attention_backward_rows<cut> rows;
    backward_options<T> with;
    tensor<T> dbias;  // of one of the two types, or null
    tensor<float> wide_dbias;
    int width, dbias_heads, dbias_batches;  // sizes of dbias
    int heads, batches;                     // of queries; batches or packed sequences
    unsigned* tickets;
    float scale_log2;
  };
  struct task {
    int row, key, head, batch;  // of dbias
    int steps;
  };

  static TK_BOTH int nq(args const& a) { return a.with.terms.q.most; }
  static TK_BOTH int nk(args const& a) { return a.with.terms.k.most; }
  static TK_BOTH int tiles(args const& a) { return ceil_div(nq(a), height) * ceil_div(nk(a), C); }
  static TK_BOTH int tasks(args const& a) { return tiles(a) * a.dbias_heads * a.dbias_batches; }
  // Heads and batches that a task sums over.
  static TK_BOTH int heads_summed(args const& a) { return a.dbias_heads == 1 ? a.heads : 1; }
  static TK_BOTH int summed(args const& a) {
    return heads_summed(a) * (a.dbias_batches == 1 ? a.batches : 1);
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const of = i / tiles(a), at = i % tiles(a), across = ceil_div(nk(a), C);
    task t{at / across * height, at % across * C, of % a.dbias_heads, of / a.dbias_heads, 0};
    sequence const all{0, 0, nq(a), nk(a)};
    auto const keys = a.with.terms.seen.keys_seen(all, t.row, height);
    bool const seen = a.with.terms.packed() || (keys.first < t.key + C && t.key < keys.last);
    t.steps = seen ? summed(a) * parts : 0;
    return t;
  }

  // The n-th head that a task sums over.
  struct place {
    int head, outer;
    backward_place at;
  };
  static TK_DEVICE place place_at(args const& a, task const& t, int n) {
    int const batch = t.batch + n / heads_summed(a);
    return {t.head + n % heads_summed(a), a.with.terms.packed() ? 0 : batch,
            place_of<cut>(a.rows.sizes, a.with.terms, batch)};
  }

  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    auto const p = place_at(a, t, step / parts);
    int const col = step % parts * P, key_head = p.head / a.rows.sizes.group_heads;
    int const end = p.at.of.q_start + p.at.of.nq, key_end = p.at.of.k_start + p.at.of.nk;
    TK_UNROLL
    for (int w = 0; w < workers; ++w) {
      int const row = p.at.of.q_start + t.row + w * R;
      load_async(s.q[w], window(a.q, row, col, p.head, p.outer, end), done);
      load_async(s.dout[w], window(a.dout, row, col, p.head, p.outer, end), done);
    }
    int const key = p.at.of.k_start + t.key;
    load_async(s.k, window(a.k, key, col, key_head, p.outer, key_end), done);
    load_async(s.v, window(a.v, key, col, key_head, p.outer, key_end), done);
  }

  // dp becomes p (z dp - delta), from the products of row `row`.
  static TK_DEVICE void weigh(tile& s, tile& dp, args const& a, place const& p, int row, int key) {
    int const left = p.at.of.nq - row;
    std::int64_t const at = a.rows.row(p.at.first_block * cut::queries + row, p.head, p.outer);
    weigh_rows_with_options<false>(s, dp, a.with, p.at, {key, row, p.head, a.rows.sizes.heads()},
                                   a.with.terms.slope(p.at.batch, p.head), a.scale_log2,
                                   load_col<R>(a.rows.lse + at, left, inf),
                                   load_col<R>(a.rows.delta + at, left, 0.f));
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const w = c.w.id(), row = t.row + w * R, count = t.steps / parts;
    tile sum = 0.f, s, dp;
    for (int n = 0; n < count; ++n) {
      TK_UNROLL
      for (int part = 0; part < parts; ++part) {
        auto const& x = c.in.take();
        if (part == 0) {
          mm_abt(s, x.q[w], x.k);
          mm_abt(dp, x.dout[w], x.v);
        } else {
          mma_abt(s, x.q[w], x.k);
          mma_abt(dp, x.dout[w], x.v);
        }
        wait<0>(s, dp);
        c.in.release();
      }
      weigh(s, dp, a, place_at(a, t, n), row, t.key);
      sum = sum + dp;
    }
    if (a.dbias.data) store_direct(a.dbias, row, t.key, t.head, t.batch, cast<T>(sum), a.width);
    else store_direct(a.wide_dbias, row, t.key, t.head, t.batch, cast<float>(sum), a.width);
  }
};

}  // namespace tk
