// SPDX-License-Identifier: MIT
// Hedgehog attention as LoLCATs has it: softmax within a window of two blocks of 64 tokens, linear
// attention by learned features on what lies before, one normaliser for both.
//   phi(x) = max([softmax(x W), softmax(-x W)], 1e-6),  128 features
//   p_ij = beta exp(scale (q_i k_j - max_i)) on the window: block(j) >= block(i) - 1, j <= i
//   l_ij = alpha phi(q_i) phi(k_j)           before it:     block(j) <= block(i) - 2
//   o_i = sum of (p_ij + l_ij) v_j / (sum of (p_ij + l_ij) + 1e-6)
// Shapes    q, o[b, nq, h, 128], k, v[b, nk, h, 128], W[h, 128, 64]; a query's place is among the
//           keys, of which the queries are the last; any nq, nk, also 0; any strides, 128
//           contiguous; states S[b, h, 128, 128] and z[b, h, 128] fp32. Packed: [total, h, 128].
// Numerics  products' sums, scores, features and states in fp32; weights p, features, and S times
//           alpha where it meets a query, rounded to T; z is not.
// Order     at block c, S and z hold the blocks up to c - 2: o of block c, then block c - 1 is
//           added. Columns of v are independent, a worker has P of them. A segment's sums may be
//           taken alone (Outputs = false); then it begins with those of the segments before it.
// Overlap   the workers of a block share tiles and go on by themselves; where there is memory for
//           it, workers of two kinds (hedgehog_walk.hpp).
// Source    Hedgehog: Zhang et al., 2024; LoLCATs: Zhang et al., 2024.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/product.hpp"
#include "ops/hedgehog/features.hpp"
#include "ops/hedgehog/hedgehog_tasks.hpp"

namespace tk {

template <class T, bool Outputs> struct hedgehog_scan {
  using of = hedgehog_tasks<T, Outputs>;
  using sizes = typename of::sizes;
  using args = typename sizes::args;
  using task = typename of::task;
  using column = typename of::column;
  static constexpr auto tune = sizes::tune;
  static constexpr int workers = tune.workers, cluster = 1, stages = tune.slots, own_slots = 1,
                       C = sizes::C, D = sizes::D, F = sizes::F, P = sizes::P;
  // The tiles of a block, in their order; maps are among them where they do not stay in shared
  // memory, and what has no queries has those of `absorbed` alone.
  static constexpr bool resident = tune.resident;
  enum tile { q_tile, map_q, k_tile, k_before, map_k, v_tile, v_before };
  static constexpr int absorbed = resident ? 2 : 3, all_tiles = resident ? 5 : 7;
  static TK_BOTH tile absorbed_tile(int i) {
    return i == 0 ? k_before : i + 1 == absorbed ? v_before : map_k;
  }
  static TK_BOTH tile tile_of(int i) {
    if (resident) i += i > 2 ? 2 : i > 0 ? 1 : 0;
    return static_cast<tile>(i);
  }
  using features = reg_tile<float, C, F>;

  union stage {
    shared_tile<T, C, D> x;
    shared_tile<T, C, sizes::V> v;
    shared_tile<T, D, F> map;
  };
  struct own {};
  using maps = feature_maps<T>;
  using common = std::conditional_t<resident, maps, no_memory>;
  struct scratch {
    shared_tile<T, D, P> state;
    shared_tile<T, C, D> phi;
    shared_vec<float, F> z[2];  // of either half of the features
    col_shares<F> shares[2];
  };

  static TK_BOTH int tasks(args const& a) { return of::tasks(a); }
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto t = of::task_at(a, i);
    t.steps = (t.absorbing - t.first) * absorbed + (t.last - t.absorbing) * all_tiles;
    return t;
  }

  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const col = t.part * sizes::V, before = (t.absorbing - t.first) * absorbed,
              rest = step - before;
    int const block = rest < 0 ? t.first + step / absorbed : t.absorbing + rest / all_tiles;
    switch (rest < 0 ? absorbed_tile(step % absorbed) : tile_of(rest % all_tiles)) {
      case q_tile: return of::load_queries(s.x, a, t, block, done);
      case map_q: return load_async(s.map, window(a.map_q, 0, 0, t.head), done);
      case k_tile: return of::load_keys(s.x, a.k, t, 0, block, done);
      case k_before: return of::load_keys(s.x, a.k, t, 0, block - 1, done);
      case map_k: return load_async(s.map, window(a.map_k, 0, 0, t.head), done);
      case v_tile: return of::load_keys(s.v, a.v, t, col, block, done);
      case v_before: return of::load_keys(s.v, a.v, t, col, block - 1, done);
    }
  }
  static TK_DEVICE void load_common(common& s, args const& a, task const& t, be::arrival done) {
    if constexpr (resident)
      if (!of::is_done(a, t)) of::load_maps(s, a, t, done);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (!of::is_done(a, t)) return scan(c, a, t);
    if constexpr (resident) {
      c.common.take();
      release_loaded(c.w, c.common);
    }
  }

 private:
  template <class Context> static TK_DEVICE void scan(Context& c, args const& a, task const& t) {
    int const col = t.part * sizes::V + c.w.id() * P;
    maps const* of_task = nullptr;
    if constexpr (resident) of_task = &c.common.take();
    reg_tile<float, D, P> s;
    of::begin(s, a, t, col);
    if constexpr (Outputs) store(c.scratch.state, cast<T>(s * a.alpha.at(t.head)));
    auto const z = [&](int i) -> float& { return c.scratch.z[i / F].data[i % F]; };
    of::begin_sums(c.w, a, t, [&](int i, float x) { z(i) = x; });
    // What may lie where results go has been read.
    if constexpr (Outputs) c.all.arrive();
    c.w.sync();
    for (int block = t.first; block < t.absorbing; ++block) absorb(c, a, t, s, of_task);
    if constexpr (Outputs)
      for (int block = t.absorbing; block < t.last; ++block)
        attend(c, a, t, s, block, col, of_task);
    if constexpr (resident) c.common.release();
    if constexpr (Outputs) c.all.await();
    if (!of::leaves(a, t)) return;
    of::leave_state(a, t, col, s);
    if (col == 0) of::leave_sums(c.w, a, t, z);
  }

  // phi(k) to shared memory, and its sums to z.
  template <class Context> static TK_DEVICE void add_keys(Context& c, features const& u) {
    put_keys(c.w, c.scratch.phi, c.scratch.shares, u);
    c.w.sync();
    for_key_sums(c.scratch.shares,
                 [&](int half, int column, float sum) { c.scratch.z[half].data[column] += sum; });
    c.w.sync();
  }
  template <class Context>
  static TK_DEVICE void add_block(Context& c, reg_tile<float, D, P>& s, stage const& values) {
    mma_atb(s, c.scratch.phi, columns<P>(values.v, c.w.id()));
    wait<0>(s);
  }

  // A step without queries: the block of keys before goes to the state.
  template <class Context>
  static TK_DEVICE void absorb(Context& c, args const& a, task const& t, reg_tile<float, D, P>& s,
                               maps const* of_task) {
    features u;
    if constexpr (resident) {
      mm_ab(u, c.in.take().x, of_task->k);
      wait<0>(u);
      c.in.release();
    } else {
      reg_tile<T, C, D> k;
      project(c, u, k);
    }
    add_keys(c, u);
    add_block(c, s, c.in.take());
    c.in.release();
    if constexpr (Outputs) put_state(c, s, a.alpha.at(t.head));
    else c.w.sync();  // all warps have read the features
  }

  // A step with queries.
  template <class Context>
  static TK_DEVICE void attend(Context& c, args const& a, task const& t, reg_tile<float, D, P>& s,
                               int block, int col, maps const* of_task) {
    bool const adds = of::adds(t, block);
    auto const at = t.at.queries(block);
    features u;
    reg_tile<T, C, D> rows;  // of q, then of k; where maps come through the ring
    stage const *q = nullptr, *before = nullptr;
    if constexpr (resident) {
      q = &c.in.take();
      mm_ab(u, q->x, of_task->q);
      wait<0>(u);
    } else {
      project(c, u, rows);
    }
    float const alpha = a.alpha.at(t.head);
    column sum = put_queries(c.scratch.phi, c.scratch.z, u) * alpha;
    c.w.sync();
    reg_tile<float, C, P> o;
    mm_ab(o, c.scratch.phi, c.scratch.state);

    reg_tile<float, C, C> near, far;  // scores of the own block, and of the one before
    if constexpr (resident) {
      mm_abt(near, q->x, c.in.take().x);
      before = &c.in.take();
      mm_abt(far, q->x, before->x);
      wait<0>(near, far, o);
      c.in.release();
      c.in.release();
    } else {
      mm_abt(near, rows, c.in.take().x);
      wait<0>(near, o, rows);
      c.in.release();
      auto const& k = c.in.take();
      mm_abt(far, rows, k.x);
      wait<0>(far, rows);
      tk::load(rows, k.x);
      release_loaded(c.w, c.in);
    }
    keep_lower(near, at.shift, -inf);
    if (block == 0) far = -inf;
    column const top = max(row_max(near), row_max(far)) * a.scale_log2;
    float const beta = a.beta.at(t.head);
    reg_tile<T, C, C> p, p_before;
    column const share = cast_with_sum(p, exp2(near * a.scale_log2 - top) * beta),
                 share_before = cast_with_sum(p_before, exp2(far * a.scale_log2 - top) * beta);
    sum = sum + total(share + share_before);
    if constexpr (!resident) {
      mm_ab(u, rows, c.in.take().map);
      wait<0>(u, rows);
      c.in.release();
      if (adds) add_keys(c, u);
    }
    mma_ab(o, p, columns<P>(c.in.take().v, c.w.id()));
    if constexpr (!resident) {
      wait<0>(o, p);
      c.in.release();
    }
    auto const& v_before = c.in.take();
    mma_ab(o, p_before, columns<P>(v_before.v, c.w.id()));
    wait<0>(o, p, p_before);
    of::divide(o, a, t, at, col, sum + least_sum);
    store(of::outputs(a, t, at, col), cast<T>(o));
    if constexpr (resident) {
      if (adds) {
        mm_ab(u, before->x, of_task->k);
        wait<0>(u);
        add_keys(c, u);
      }
    }
    if (adds) add_block(c, s, v_before);
    c.in.release();
    if constexpr (resident) {  // k and v of the block before, too
      c.in.release();
      c.in.release();
    }
    if (adds) put_state(c, s, alpha);
    else c.w.sync();
  }
  template <class Context>
  static TK_DEVICE void put_state(Context& c, reg_tile<float, D, P> const& s, float alpha) {
    store(c.scratch.state, cast<T>(s * alpha));
    c.w.sync();
  }
};

}  // namespace tk
