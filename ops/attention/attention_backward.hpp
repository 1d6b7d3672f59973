// SPDX-License-Identifier: MIT
// attention backward: dq, dk, dv of o = softmax(scale * q k^T + mask) v, from dout, o and lse; with
// options (backward_terms.hpp), of which packed sequences lack b.
// Shapes    q, dq[b, nq, hq, d], k, dk[b, nk, hk, d], v, dv[b, nk, hk, dv], o, dout[b, nq, hq, dv],
//           lse[b, hq, nq]; hq % hk == 0; d and dv at most D; any nq, nk, also 0; any strides,
//           d contiguous.
// Numerics  p = exp(score - lse), ds = p (dp - delta) and all sums in fp32; p and ds rounded to T
//           before their products.
// Order     a task owns a block of keys of one key head and walks the queries of all its query
//           heads, the last ones first; dk and dv stay in registers. dq is the sum of the blocks of
//           keys in ascending order: each waits for its turn at a piece, and the last one writes
//           it. Blocks of keys are dealt in that order, so that turns wait for earlier tasks alone;
//           and as all walk downward, a block follows the one before it by a step, causal or not.
// Overlap   everything is transposed (keys are rows), so that p and ds are left operands as they
//           stand. exp2 runs under dp, which is begun with s, or, late, in registers that lse has
//           left; dq, which needs the ds of all workers, is one step late, so that they need not
//           keep pace; pieces of dq leave while workers go on (senders). lse is read before the
//           products are issued: a load behind them waits for them. Or a worker has the dq of a
//           slice, transposed, and adds it itself (backward_dq.hpp). (Dao, FlashAttention-2, 2023;
//           the transposed products and a separate step for dq: FlashAttention-3, Shah et al.,
//           2024.)
#pragma once
#include "core/partial_tiles.hpp"
#include "core/product.hpp"
#include "core/vector.hpp"
#include "ops/attention/attention_backward_prepare.hpp"
#include "ops/attention/backward_dq.hpp"

namespace tk {

template <class T, int D, mask_kind Mask, option_set Options = option_set::none>
struct attention_backward {
  using cut = attention_backward_cut<D, Options>;
  static constexpr bool placed = cut::placed, general = Options == option_set::all;
  static constexpr auto tune = cut::tune;
  static constexpr int workers = cut::workers, cluster = 1, stages = tune.slots, own_slots = 1;
  static constexpr int N = cut::N, M = cut::M, Q = cut::Q, C = cut::C, P = cut::P,
                       parts = cut::parts, slices = cut::slices, across = cut::across;
  static constexpr int slots_of_slice = 2 * parts, slots_of_step = slices * slots_of_slice,
                       owned = P;  // columns of dk and dv
  static constexpr bool transposed = cut::transposed;
  static constexpr bool causal = Mask == mask_kind::causal;
  static_assert(tune.ds_slots == 2 || (tune.ds_slots == 3 && !transposed));
  static_assert(!tune.dp_late || (parts == 1 && slices == 1 && !general));
  using scores = reg_tile<float, N, M>;
  using rows_of_scores = reg_row<float, N, M>;

  struct stage {
    shared_tile<T, M, P> x;  // a part of the columns of dout or q
    shared_vec<float, M> y;  // with the part that the task owns: delta or lse
  };
  struct own {};
  struct common {
    shared_tile<T, N, P> k[workers][parts], v[workers][parts];
  };
  struct scratch {
    shared_tile<T, N, M> ds[tune.ds_slots][slices];
  };
  struct args {
    be::source<T, M, P> q, dout;
    be::source<T, N, P> k, v;
    std::conditional_t<transposed, tensor<T>, be::sink<T, Q, C>> dq;
    be::sink<T, N, P> dk, dv;
    attention_backward_rows<cut> rows;
    unsigned* tickets;
    float scale, scale_log2;
    std::conditional_t<placed, backward_options<T>, no_terms> with;
  };
  using task = backward_walk<placed>;  // sends: of pieces of dq, to which later blocks of keys add

  static TK_BOTH int rows_of_tasks(args const& a) {
    return parts * a.rows.sizes.hk * a.rows.sizes.b;
  }
  static TK_BOTH int tasks(args const& a) {
    return rows_of_tasks(a) * a.rows.sizes.template key_blocks<cut>();
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto const& x = a.rows.sizes;
    auto const at = grouped(i, rows_of_tasks(a), x.template key_blocks<cut>(),
                            parts * x.template heads_together<cut>());
    auto t = walk_of<cut>(x, a.with, at.col, at.row / parts);
    t.part = at.row % parts;
    t.steps = x.group_heads * t.walked * slots_of_step;
    t.sends = x.group_heads * t.walked_later;
    return t;
  }

  // A slice's parts of columns, the task's own last, each of dout first.
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const n = step / slots_of_step, slot = step % slots_of_step;
    int const which = slot % slots_of_slice, part = (t.part + 1 + which / 2) % parts;
    int const head = t.head * a.rows.sizes.group_heads + n / t.walked;
    int const block = t.last - n % t.walked, row = slot / slots_of_slice * M;
    bool const is_q = which % 2 == 1;
    load_async(s.x, queries_at(is_q ? a.q : a.dout, t, block * cut::queries + row, part * P, head),
               done);
    if (part == t.part)
      load_async(s.y,
                 (is_q ? a.rows.lse : a.rows.delta) +
                     a.rows.row(block_in_workspace(t, block) * cut::queries + row, head, t.batch),
                 M, done);
  }
  static TK_DEVICE void load_common(common& s, args const& a, task const& t, be::arrival done) {
    TK_UNROLL
    for (int w = 0; w < workers; ++w) TK_UNROLL
    for (int part = 0; part < parts; ++part) {
      int const key = t.key_block * cut::keys + w * N;
      load_async(s.k[w][part], keys_at(a.k, t, key, part * P), done);
      load_async(s.v[w][part], keys_at(a.v, t, key, part * P), done);
    }
  }

  // A worker's piece of dq of a block of queries gets the sums of the blocks of keys that see it,
  // in ascending order, each rounded alike: which one is the last depends on a row's neighbours.
  // The last one writes dq.
  using sent = reg_tile<float, Q, C>;
  static constexpr int senders = be::has_senders ? tune.senders : 0;
  struct piece {
    std::int64_t index;
    int before;  // blocks of keys that add to it first
  };
  template <class Who>
  static TK_DEVICE piece piece_of(Who const& who, args const& a, task const& t, int block,
                                  int head) {
    piece x{a.rows.piece(block_in_workspace(t, block), head, t.batch, t.part, who.id()),
            t.key_block};
    if constexpr (placed) x.before -= key_blocks_seen<cut>(a.with.terms.seen, t.at.of, block).first;
    return x;
  }
  template <class Who>
  static TK_DEVICE piece sent_piece(Who const& who, args const& a, task const& t, int n) {
    return piece_of(who, a, t, t.last - n % t.walked_later,
                    t.head * a.rows.sizes.group_heads + n / t.walked_later);
  }
  // Pieces that are delivered together have one turn.
  static TK_DEVICE unsigned* turn_of(args const& a, piece const& x) {
    return a.rows.turns + (senders > 0 ? x.index / workers * workers : x.index);
  }
  template <class Who>
  static TK_DEVICE void await_piece(Who const& who, args const& a, piece const& x) {
    if (x.before > 0) wait_for_count(who, turn_of(a, x), static_cast<unsigned>(x.before));
  }
  template <class Who>
  static TK_DEVICE void await_turn(Who const& who, args const& a, task const& t, int n) {
    await_piece(who, a, sent_piece(who, a, t, n));
  }
  template <class Who, class Sums>
  static TK_DEVICE void deliver(Who const& who, args const& a, task const& t, int n,
                                Sums const& sums) {
    auto const x = sent_piece(who, a, t, n);
    if (x.before == 0) store(who, a.rows.dq, x.index, sums);
    else add(who, a.rows.dq, x.index, sums);
    count_up(who, turn_of(a, x));
  }
  // The piece of a step.
  template <class Context>
    requires(!transposed)
  static TK_DEVICE void send(Context& c, args const& a, task const& t, int block, int head,
                             reg_tile<float, Q, C>& dq) {
    int const w = c.w.id(), walked = t.last - block;
    if (walked < t.walked_later) {
      int const heads = head - t.head * a.rows.sizes.group_heads;
      return c.out.send(t, heads * t.walked_later + walked, dq);
    }
    auto const x = piece_of(c.w, a, t, block, head);
    await_piece(c.w, a, x);
    if (x.before > 0) load_add(dq, a.rows.dq, x.index);
    dq = dq * a.scale + 0.f;  // zeros are +0, as where no key is seen
    store(queries_at(a.dq, t, block * cut::queries + w / across * Q, t.part * P + w % across * C,
                     head),
          cast<T>(dq));
  }

  // s = k q^T and dp = v dout^T of a slice, which run when this returns (dp_late: s alone); the
  // slots of the task's part stay taken.
  struct slice_slots {
    stage const &dout, &q;
  };
  template <class Context>
  static TK_DEVICE slice_slots begin_scores(Context& c, task const& t, common const& kv, scores& s,
                                            scores& dp, [[maybe_unused]] rows_of_scores& lse) {
    int const w = c.w.id();
    TK_UNROLL
    for (int other = 0; other + 1 < parts; ++other) {
      int const part = (t.part + 1 + other) % parts;
      auto const& dout = c.in.take();
      auto const& q = c.in.take();
      if (other == 0) {
        mm_abt(s, kv.k[w][part], q.x);
        mm_abt(dp, kv.v[w][part], dout.x);
      } else {
        mma_abt(s, kv.k[w][part], q.x);
        mma_abt(dp, kv.v[w][part], dout.x);
      }
      wait<0>(s, dp);
      c.in.release();
      c.in.release();
    }
    auto const& dout = c.in.take();
    auto const& q = c.in.take();
    if constexpr (parts == 1) {
      tk::load(lse, q.y);
      mm_abt(s, kv.k[w][0], q.x);
      if constexpr (!tune.dp_late) mm_abt(dp, kv.v[w][0], dout.x);
    } else {
      mma_abt(s, kv.k[w][t.part], q.x);
      mma_abt(dp, kv.v[w][t.part], dout.x);
    }
    return {dout, q};
  }
  // Adds a worker's piece of dq, from the ds of all workers.
  using dq_tile = std::conditional_t<transposed, reg_tile<float, D, M>, reg_tile<float, Q, C>>;
  template <class Context>
  static TK_DEVICE void add_piece(Context& c, task const& t, common const& kv, int side,
                                  dq_tile& dq) {
    if constexpr (transposed) {
      TK_UNROLL
      for (int of = 0; of < workers; ++of)
        mma_atb(dq, kv.k[of][0], c.scratches[of].ds[side][c.w.id()]);
    } else {
      int const row = c.w.id() / across * Q, slice = row / M, col = c.w.id() % across;
      TK_UNROLL
      for (int of = 0; of < workers; ++of)
        mma_atb(dq, columns<Q>(c.scratches[of].ds[side][slice], row % M / Q),
                columns<C>(kv.k[of][t.part], col));
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const w = c.w.id(), key = t.key_block * cut::keys + w * N;
    auto& kv = c.common.take();
    reg_tile<float, N, P> dk = 0.f, dv = 0.f;
    if constexpr (placed) {
      if (t.steps == 0) {  // no query sees these keys
        c.w.sync();        // all lanes have taken what one gives back
        return store_keys(c, a, t, kv, key, dk, dv);
      }
    }
    reg_tile<T, N, M> p, ds;
    int head = t.head * a.rows.sizes.group_heads, block = t.last;  // of this step
    int late_head = head, late_block = block;                      // of the step before
    [[maybe_unused]] int passed = pieces::none;
    [[maybe_unused]] block_of_queries at = pieces::first(a, t), late_at = at;
    int side = 0, late = tune.ds_slots - 1;
    int const walk = t.steps / slots_of_step;
    for (int n = 0; n < walk; ++n) {
      dq_tile dq;
      TK_UNROLL
      for (int j = 0; j < slices; ++j) {
        if constexpr (parts > 1) {
          if (j > 0) end_slice<0>(c, dk, dv, p, ds);
        }
        scores s, dp;
        rows_of_scores lse;
        auto const [dout, q] = begin_scores(c, t, kv, s, dp, lse);
        if constexpr (parts == 1) {
          if (j > 0) end_slice<1>(c, s, dk, dv, p, ds);
        }
        if constexpr (general) {
          wait<0>(s, dp);
          weigh_with_options(s, dp, a.with, t.at,
                             {key, block * cut::queries + j * M, head, a.rows.sizes.heads()},
                             a.scale_log2, as_row(q.y), as_row(dout.y));
        } else {
          wait<!tune.dp_late>(s);
          if constexpr (parts == 1) s = s * a.scale_log2 - lse;
          else s = s * a.scale_log2 - as_row(q.y);
          if constexpr (tune.dp_late) mm_abt(dp, kv.v[w][0], dout.x);
          s = exp2(s);
          apply_mask_transposed<attention_backward>(s, a, t, key, block * cut::queries + j * M);
          wait<0>(dp);
          dp = s * (dp - as_row(dout.y));
        }
        ds = cast<T>(dp);
        p = cast<T>(s);
        bool const last = j + 1 == slices;
        if (last) dq = 0.f;
        if (tune.ds_slots == 2 && j == 0 && n > 0) c.all.await();
        if constexpr (transposed)
          if (j == 0) pieces::pass(c.w, a, passed);
        store_relaxed(c.scratch.ds[side][j], ds);
        mma_ab(dv, p, dout.x);
        if constexpr (!be::has_async_products) mma_ab(dk, ds, q.x);  // so that ds ends here
        if (last) {
          if (tune.ds_slots == 3 && n > 0) c.all.await();
          add_piece(c, t, kv, late, dq);  // in the first step, of nothing
        }
        if constexpr (be::has_async_products) mma_ab(dk, ds, q.x);
      }
      wait<1>(dq, dv, p);
      if constexpr (transposed) {
        if (n > 0) add_slice(c, a, t, late_at, dq, passed);
        c.all.arrive();  // has added, too
        late_at = at;
        at = pieces::next(a, t, at);
      } else {
        c.all.arrive();
        if (n > 0) send(c, a, t, late_block, late_head, dq);
      }
      late = side;
      side = side + 1 == tune.ds_slots ? 0 : side + 1;
      late_head = head, late_block = block;
      if (--block == t.last - t.walked) block = t.last, ++head;
      end_slice<0>(c, dk, ds);
    }
    c.all.await();
    if constexpr (transposed) pieces::pass(c.w, a, passed);
    dq_tile dq = 0.f;
    add_piece(c, t, kv, late, dq);
    wait<0>(dq);
    c.all.arrive();
    c.all.await();  // nobody reads k any more

    // No query: 0, whatever is in k and v.
    if (!placed && a.rows.sizes.nq == 0) dk = 0.f, dv = 0.f;
    dk = dk * a.scale;
    store_keys(c, a, t, kv, key, dk, dv);
    if constexpr (transposed) {
      add_slice(c, a, t, late_at, dq, passed);
      c.all.arrive();
      c.all.await();  // all have added
      pieces::pass(c.w, a, passed);
    } else {
      send(c, a, t, late_block, late_head, dq);  // last: it may wait for its turn
    }
  }

 private:
  using pieces = backward_dq<T, cut>;
  template <class Context>
  static TK_DEVICE void add_slice(Context& c, args const& a, task const& t,
                                  block_of_queries const& at, typename pieces::tile& dq,
                                  int& passed) {
    pieces const piece(c.w, a, t, at);
    piece.add(c.w, a, t, at.block * cut::queries + c.w.id() * M, at.head, 0, dq);
    passed = pieces::to_pass(t, at);
  }
  template <class Context>
  static TK_DEVICE void store_keys(Context& c, args const& a, task const& t, common& kv, int key,
                                   reg_tile<float, N, P> const& dk,
                                   reg_tile<float, N, P> const& dv) {
    int const w = c.w.id();
    store_async(c.w, keys_at(a.dv, t, key, t.part * P), cast<T>(dv), kv.v[w][0]);
    store_async(c.w, keys_at(a.dk, t, key, t.part * P), cast<T>(dk), kv.k[w][0]);
    c.common.release_when_stored();
  }
  // Gives back the slots of a slice, whose rows all lanes have read, once its products are over.
  template <int Running, class Context, class... Tiles>
  static TK_DEVICE void end_slice(Context& c, Tiles&... tiles) {
    c.w.sync();
    wait<Running>(tiles...);
    c.in.release();
    c.in.release();
  }
};

}  // namespace tk
