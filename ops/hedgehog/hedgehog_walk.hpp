// SPDX-License-Identifier: MIT
// Hedgehog's scan by workers of two kinds, where a chip has memory for them (tuning.hpp): the first
// one keeps the state of a head; readers take blocks in turn, make features of keys for the keeper,
// and weights and outputs.
// Shapes    as hedgehog_scan.hpp.
// Numerics  and order as there.
// Overlap   from block to block there is a sum of products and a rounding alone.
#pragma once
#include "backends/kernel.hpp"
#include "ops/hedgehog/hedgehog_tasks.hpp"

namespace tk {

template <class T, bool Outputs> struct hedgehog_walk {
  using of = hedgehog_tasks<T, Outputs>;
  using sizes = typename of::sizes;
  using args = typename sizes::args;
  using task = typename of::task;
  using column = typename of::column;
  static constexpr int readers = sizes::tune.readers, workers = 1 + readers, cluster = 1,
                       own_slots = 1, stages = sizes::tune.slots, C = sizes::C, D = sizes::D,
                       F = sizes::F;
  static_assert(readers == 2, "of the block between two of its own a reader holds what it needs");
  static_assert(sizes::P == D, "the keeper has all columns");
  // Between a reader and the keeper.
  enum said { expanded, added, sums_there, state_there, has_read, kinds };
  static constexpr int signals = kinds * readers;
  static TK_DEVICE int signal_of(int reader, said x) { return kinds * reader + x; }
  using features = reg_tile<float, C, F>;

  struct stage {
    shared_tile<T, C, D> x;
  };
  struct own {};
  struct weighed_state {
    shared_tile<T, D, D> state;  // alpha S
  };
  struct common : std::conditional_t<Outputs, weighed_state, no_memory> {
    feature_maps<T> maps;
    shared_tile<T, C, D> phi[readers];  // of keys; then o
    // Of both halves of features: z, of blocks in turn; and what a reader's block adds to it.
    shared_vec<float, F> z[2][2], of_block[readers][2];
    col_shares<F> shares[readers][2];
  };
  struct scratch {};
  static TK_DEVICE float& number(shared_vec<float, F> (&x)[2], int i) {
    return x[i / F].data[i % F];
  }

  // Tiles: of blocks without queries, k and v of the one before. Then k of the one before; of each
  // block k, q, and v of the one before; and v of the last one. So the next block's k and q, with
  // which its reader begins, do not wait for room until v, which is wanted last, is given back.
  static TK_BOTH int tasks(args const& a) { return of::tasks(a); }
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto t = of::task_at(a, i);
    t.steps = 2 * (t.absorbing - t.first) + tiles_with_queries(t);
    return t;
  }
  static TK_BOTH int tiles_with_queries(task const& t) {
    return t.last > t.absorbing ? 3 * (t.last - t.absorbing) + 2 : 0;
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const rest = step - 2 * (t.absorbing - t.first) - 1, block = t.absorbing + rest / 3;
    if (rest < -1)
      of::load_keys(s.x, step % 2 == 0 ? a.k : a.v, t, 0, t.first - 1 + step / 2, done);
    else if (rest == -1) of::load_keys(s.x, a.k, t, 0, t.absorbing - 1, done);
    else if (block == t.last || rest % 3 == 2) of::load_keys(s.x, a.v, t, 0, block - 1, done);
    else if (rest % 3 == 1) of::load_queries(s.x, a, t, block, done);
    else of::load_keys(s.x, a.k, t, 0, block, done);
  }
  static TK_DEVICE void load_common(common& s, args const& a, task const& t, be::arrival done) {
    if (!of::is_done(a, t)) of::load_maps(s.maps, a, t, done);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    common& shared = c.common.take();
    if (!of::is_done(a, t)) {
      if (c.w.id() == 0) keep_state(c, a, t, shared);
      else read(c, a, t, shared, c.w.id() - 1);
    }
    release_loaded(c.w, c.common);
  }

 private:
  // Which z a block meets: each block that is added makes the next one.
  static TK_DEVICE int sums_of(task const& t, int block) {
    int const first = t.first > 0 ? t.first : 1;
    return block > first ? (block - first) % 2 : 0;
  }
  static TK_DEVICE bool attends(task const& t, int block) {
    return Outputs && block >= t.absorbing;
  }

  template <class Context>
  static TK_DEVICE void keep_state(Context& c, args const& a, task const& t, common& shared) {
    reg_tile<float, D, D> s;
    of::begin(s, a, t, 0);
    of::begin_sums(c.w, a, t, [&](int i, float x) { number(shared.z[0], i) = x; });
    float const alpha = a.alpha.at(t.head);
    int now = 0;  // of z
    bool moved = true;
    for (int block = t.first; block < t.last; ++block) {
      int const reader = (block - t.first) % readers, before = (reader + 1) % readers;
      if (block == t.absorbing) pass_slot(c);
      pass_slot(c);
      if (attends(t, block)) pass_slot(c);
      auto const& v = c.in.take().x;
      if constexpr (Outputs) {
        if (attends(t, block)) {
          c.signals.send(signal_of(reader, sums_there));
          if (block > t.absorbing) c.signals.await(signal_of(before, has_read));
          if (moved) store(shared.state, cast<T>(s * alpha));
          moved = false;
          c.signals.send(signal_of(reader, state_there));
        }
      }
      if (of::adds(t, block)) {
        c.signals.await(signal_of(reader, expanded));
        mma_atb(s, shared.phi[reader], v);
        for (int i = c.w.lane(); i < D; i += be::worker_lanes)
          number(shared.z[1 - now], i) =
              number(shared.z[now], i) + number(shared.of_block[reader], i);
        now = 1 - now;
        moved = true;
        wait<0>(s);
        c.signals.send(signal_of(reader, added));
      } else {
        c.w.sync();  // all lanes have taken the slot that one gives back
      }
      c.in.release();
    }
    if (attends(t, t.last - 1)) {
      pass_slot(c);
      c.signals.await(signal_of((t.last - 1 - t.first) % readers, has_read));
    }
    if (!of::leaves(a, t)) return;
    of::leave_state(a, t, 0, s);
    of::leave_sums(c.w, a, t, [&](int i) { return number(shared.z[now], i); });
  }

  template <class Context>
  static TK_DEVICE void read(Context& c, args const& a, task const& t, common& shared, int mine) {
    int block = t.first + mine;  // the next one that is this reader's
    bool awaited = true;         // that the keeper has added what this one made
    for (int nth = t.first; nth < t.absorbing; ++nth) {
      if (nth == block) {
        features u;
        mm_ab(u, c.in.take().x, shared.maps.k);
        wait<0>(u);
        c.in.release();
        pass_slot(c);
        if (!awaited) c.signals.await(signal_of(mine, added));
        put_block(c, shared, mine, u);
        leave_block(c, shared, mine);
        awaited = false;
        block += readers;
      } else {
        skip(c, 2);
      }
    }
    if (!awaited) c.signals.await(signal_of(mine, added));
    if constexpr (Outputs) {
      if (block >= t.last) return skip(c, tiles_with_queries(t));
      // A block of its own begins when a reader has k of the one before, and what comes with it.
      if (block > t.absorbing) pass_slot(c);
      for (int i = block > t.absorbing ? 3 : 1; i > 0; --i) c.in.take();
      for (; block < t.last; block += readers) attend(c, a, t, shared, block, mine);
      if (block == t.last) skip(c, 1);
    }
  }
  // phi(k) for the keeper, and then its sums.
  template <class Context>
  static TK_DEVICE void put_block(Context& c, common& shared, int mine, features const& u) {
    wait_stores_read(c.w);
    put_keys(c.w, shared.phi[mine], shared.shares[mine], u);
  }
  template <class Context> static TK_DEVICE void leave_block(Context& c, common& shared, int mine) {
    c.w.sync();
    for_key_sums(shared.shares[mine], [&](int half, int column, float sum) {
      shared.of_block[mine][half].data[column] = sum;
    });
    c.signals.send(signal_of(mine, expanded));
  }

  template <class Context>
  static TK_DEVICE void attend(Context& c, args const& a, task const& t, common& shared, int block,
                               int mine) {
    bool const adds = of::adds(t, block), more = block + 1 < t.last;
    auto const& k_before = c.in.peek(0).x;
    features u;
    reg_tile<float, C, C> near, far;  // scores of the own block, and of the one before
    mm_ab(u, k_before, shared.maps.k);
    wait<0>(u);
    if (adds) put_block(c, shared, mine, u);
    auto const& k = c.in.take().x;
    auto& q = c.in.take().x;
    mm_abt(near, q, k);
    mm_abt(far, q, k_before);
    mm_ab(u, q, shared.maps.q);
    if (adds) leave_block(c, shared, mine);
    wait<1>(near, far);
    for (int i = block > t.absorbing ? 4 : 2; i > 0; --i) c.in.release();  // up to k
    keep_lower(near, t.at.queries(block).shift, -inf);
    if (block == 0) far = -inf;
    column const top = max(row_max(near), row_max(far)) * a.scale_log2;
    float const alpha = a.alpha.at(t.head), beta = a.beta.at(t.head);
    reg_tile<T, C, C> p, p_before;
    column const share = cast_with_sum(p, exp2(near * a.scale_log2 - top) * beta),
                 share_before = cast_with_sum(p_before, exp2(far * a.scale_log2 - top) * beta);
    wait<0>(u);
    c.signals.await(signal_of(mine, sums_there));
    // Nobody else reads q.
    column const sum = total(share + share_before) +
                       put_queries(q, shared.z[sums_of(t, block)], u) * alpha + least_sum;
    c.w.sync();
    auto const& v_before = c.in.take().x;
    for (int i = more ? 2 : 0; i > 0; --i) c.in.take();  // k and q of the next block
    auto const& v = c.in.take().x;
    reg_tile<float, C, D> o;
    mm_ab(o, p, v);
    mma_ab(o, p_before, v_before);
    c.signals.await(signal_of(mine, state_there));
    mma_ab(o, c.in.peek(0).x, shared.state);
    wait<0>(o, p, p_before);
    c.signals.send(signal_of(mine, has_read));
    c.in.release();
    c.in.release();
    for (int i = block + readers < t.last ? 0 : more ? 3 : 1; i > 0; --i) c.in.release();
    auto const at = t.at.queries(block);
    of::divide(o, a, t, at, 0, sum);
    if (adds) c.signals.await(signal_of(mine, added));
    store_async(c.w, of::outputs(a, t, at, 0), cast<T>(o),
                reuse<shared_tile<T, C, D>>(shared.phi[mine]));
  }
};

}  // namespace tk
