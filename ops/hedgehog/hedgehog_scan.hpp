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
// Numerics  products' sums, scores, features and states in fp32; weights p, features (of q times
//           alpha), and S where it meets a query, rounded to T; z is not.
// Order     at block c, S and z hold the blocks up to c - 2: o of block c, then block c - 1 is
//           added. Columns of v are independent, a worker has P of them. A segment's sums may be
//           taken alone (Outputs = false); then it begins with those of the segments before it.
// Overlap   the workers of a block share tiles and go on by themselves; or a pair of workers that
//           have all columns (`shares`) makes each feature and weight once: one of them phi(q) and
//           the weights of the own block, the other phi(k) and the weights of the one before.
// Source    Hedgehog: Zhang et al., 2024; LoLCATs: Zhang et al., 2024.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/product.hpp"
#include "core/row_totals.hpp"
#include "core/vector.hpp"
#include "ops/hedgehog/features.hpp"
#include "ops/hedgehog/hedgehog_sizes.hpp"

namespace tk {

template <class T, bool Outputs> struct hedgehog_scan {
  using sizes = hedgehog_sizes<T>;
  using args = typename sizes::args;
  static constexpr auto tune = sizes::tune;
  static constexpr int workers = sizes::workers, cluster = 1, stages = tune.slots, own_slots = 1,
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
  using column = reg_col<float, C>;
  using features = reg_tile<float, C, F>;
  static constexpr bool shares = tune.shares;
  static_assert(!shares || (resident && workers == 2 && sizes::parts == 1));

  union stage {
    shared_tile<T, C, D> x;
    shared_tile<T, C, sizes::V> v;
    shared_tile<T, D, F> map;
  };
  struct own {};
  struct maps {
    shared_tile<T, D, F> q, k;
  };
  using common = std::conditional_t<resident, maps, no_memory>;
  struct no_weights {};
  struct shared_weights {
    shared_tile<T, C, C> p;
    shared_vec<float, C> top, weight;  // of the scores of p; the sums of p, and l with phi(q)
  };
  struct scratch : std::conditional_t<shares, shared_weights, no_weights> {
    shared_tile<T, D, P> state;
    shared_tile<T, C, D> phi;
    shared_vec<float, F> z[2], sum[2];  // of either half of the features; a pair has the first's z
    col_exchange<F> exchange;
  };
  struct task {
    int sequence, head, part, block;    // block: the segment, where each is a task
    int first, absorbing, last, steps;  // blocks: those before `absorbing` have no queries
    hedgehog_rows::place at;
  };

  static TK_BOTH bool segments(args const& a) { return a.states.data != nullptr; }
  // Whether a task begins with what the sequence begins with. The last segment's sum is nobody's:
  // its place has that for the scan of segments.
  static TK_BOTH bool begins(args const& a, task const& t) {
    return Outputs ? !segments(a) : is_last(a, t);
  }
  static TK_BOTH int tasks(args const& a) {
    auto const& keys = a.rows.keys;
    return (segments(a) ? keys.blocks(hedgehog_segment * C) : keys.b) * keys.h * sizes::parts;
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto const& keys = a.rows.keys;
    task t{};
    t.part = i % sizes::parts;
    t.head = i / sizes::parts % keys.h;
    t.block = i / (sizes::parts * keys.h);
    t.sequence = segments(a) ? keys.sequence_of(t.block, hedgehog_segment * C) : t.block;
    t.at = a.rows.sequence(t.sequence);
    // Without queries only whole blocks add anything.
    int const blocks = t.at.nq > 0 ? ceil_div(t.at.n, C) : t.at.n / C, queries = t.at.past / C;
    t.last = blocks;
    if (segments(a)) {
      int const nth = t.block - keys.first_block(t.sequence, hedgehog_segment * C);
      t.first = nth < 0 ? blocks : nth * hedgehog_segment;
      int const end = t.first + hedgehog_segment;
      if (end < blocks) t.last = end;
      else if (!Outputs) t.last = t.first;  // nothing begins with its sum
    }
    // Nothing is added at the first block.
    if (t.first == 0 && (!Outputs || queries > 0)) t.first = 1;
    if (t.last < t.first) t.last = t.first;
    t.absorbing = !Outputs || t.at.nq == 0 || queries > t.last ? t.last
                  : queries < t.first                          ? t.first
                                                               : queries;
    t.steps = (t.absorbing - t.first) * absorbed + (t.last - t.absorbing) * all_tiles;
    return t;
  }
  // Whether a task ends where its sequence does. Packed sequences leave room for blocks that none
  // has.
  static TK_BOTH bool is_last(args const& a, task const& t) {
    if (!segments(a)) return true;
    int const nth = t.block - a.rows.keys.first_block(t.sequence, hedgehog_segment * C),
              blocks = ceil_div(t.at.n, C), segments = ceil_div(blocks, hedgehog_segment);
    return nth == (segments > 0 ? segments - 1 : 0);
  }

  // Blocks of keys; there is none before the first.
  template <class X, class Source>
  static TK_DEVICE void load_keys(X& to, Source const& from, task const& t, int col, int block,
                                  be::arrival done) {
    int const end = t.at.first + t.at.n, row = block < 0 ? end : t.at.first + block * C;
    load_async(to, window(from, row, col, t.head, t.at.batch, end), done);
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const col = t.part * sizes::V, before = (t.absorbing - t.first) * absorbed,
              rest = step - before;
    int const block = rest < 0 ? t.first + step / absorbed : t.absorbing + rest / all_tiles;
    switch (rest < 0 ? absorbed_tile(step % absorbed) : tile_of(rest % all_tiles)) {
      case q_tile: {
        auto const at = t.at.queries(block);
        return load_async(s.x, window(a.q, at.row, 0, t.head, t.at.batch, at.row + at.n), done);
      }
      case map_q: return load_async(s.map, window(a.map_q, 0, 0, t.head), done);
      case k_tile: return load_keys(s.x, a.k, t, 0, block, done);
      case k_before: return load_keys(s.x, a.k, t, 0, block - 1, done);
      case map_k: return load_async(s.map, window(a.map_k, 0, 0, t.head), done);
      case v_tile: return load_keys(s.v, a.v, t, col, block, done);
      case v_before: return load_keys(s.v, a.v, t, col, block - 1, done);
    }
  }
  static TK_DEVICE void load_common(common& s, args const& a, task const& t, be::arrival done) {
    if constexpr (resident) {
      if (Outputs) load_async(s.q, window(a.map_q, 0, 0, t.head), done);
      load_async(s.k, window(a.map_k, 0, 0, t.head), done);
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const col = t.part * sizes::V + c.w.id() * P;
    auto const at = sizes::state_of(a, t.block, t.head, col);
    maps const* of_task = nullptr;
    if constexpr (resident) of_task = &c.common.take();
    reg_tile<float, D, P> s = 0.f;
    if (begins(a, t)) sizes::begin(s, a, t.sequence, t.head, col);
    if constexpr (Outputs) {
      if (segments(a)) tk::load(s, a.states, at);
      tk::store(c.scratch.state, cast<T>(s));
    }
    begin_sums(c, a, t);
    // What may lie where results go has been read; and what a pair shares may be overwritten.
    if constexpr (Outputs || shares) c.all.arrive();
    c.w.sync();
    for (int block = t.first; block < t.absorbing; ++block) {
      if constexpr (shares) absorb_half(c, s, *of_task);
      else absorb(c, s, of_task);
    }
    if constexpr (Outputs) {
      for (int block = t.absorbing; block < t.last; ++block) {
        if constexpr (shares) attend_half(c, a, t, s, block, col, *of_task);
        else attend(c, a, t, s, block, col, of_task);
      }
    }
    if constexpr (resident) c.common.release();
    bool const one = col == 0;  // of the workers of a head
    if constexpr (Outputs || shares) c.all.await();
    if constexpr (Outputs) {
      if (!a.final.data || !is_last(a, t)) return;
      store_direct(a.final, 0, col, t.head, t.sequence, cast<float>(s), a.final_width);
      if (one) put_sums(c, a.final_sums.at(t.sequence, t.head));
    } else if (t.steps > 0 || begins(a, t)) {
      tk::store(a.states, at, s);
      if (one) put_sums(c, sizes::sums_of(a, t.block, t.head));
    }
  }

 private:
  template <class Context>
  static TK_DEVICE void begin_sums(Context& c, args const& a, task const& t) {
    float const* from = nullptr;
    if (Outputs && segments(a)) from = sizes::sums_of(a, t.block, t.head);
    else if (begins(a, t) && a.initial_sums.data) from = a.initial_sums.at(t.sequence, t.head);
    for (int i = c.w.lane(); i < D; i += be::worker_lanes)
      c.scratch.z[i / F].data[i % F] = from ? from[i] : 0.f;
  }
  template <class Context> static TK_DEVICE void put_sums(Context& c, float* to) {
    for (int i = c.w.lane(); i < D; i += be::worker_lanes) to[i] = c.scratch.z[i / F].data[i % F];
  }

  // Either half of the features of u = x W: use(half, features).
  template <class Use> static TK_DEVICE void for_features(features const& u, Use use) {
    features e;
    TK_UNROLL
    for (int half = 0; half < 2; ++half) {
      softmax_of(e, u, half == 1);
      e = max(e, least_feature);
      use(half, e);
    }
  }
  // phi(q) times alpha to shared memory; returns its product with z.
  template <class Context>
  static TK_DEVICE column put_queries(Context& c, features const& u, float alpha) {
    column sum = 0.f;
    for_features(u, [&](int half, features& e) {
      e = e * alpha;
      sum = sum + row_sum_share(e * as_row(c.scratch.z[half]));
      tk::store(columns<F>(c.scratch.phi, half), cast<T>(e));
    });
    c.w.sync();
    return total(sum);
  }
  // phi(k) to shared memory, and their sums.
  template <class Context> static TK_DEVICE void put_keys(Context& c, features const& u) {
    for_features(u, [&](int half, features const& e) {
      tk::store(columns<F>(c.scratch.phi, half), cast<T>(e));
      col_sum(c.w, c.scratch.sum[half], e, c.scratch.exchange);
    });
  }
  // The sums of a worker's keys to z.
  template <class Context>
  static TK_DEVICE void add_sums(Context& c, shared_vec<float, F> (&z)[2], int first, int last) {
    for (int half = first; half < last; ++half)
      for (int i = c.w.lane(); i < F; i += be::worker_lanes)
        z[half].data[i] += c.scratch.sum[half].data[i];
    c.w.sync();
  }
  template <class Context>
  static TK_DEVICE void add_block(Context& c, reg_tile<float, D, P>& s, stage const& values) {
    mma_atb(s, c.scratch.phi, columns<P>(values.v, c.w.id()));
    wait<0>(s);
  }

  // A step without queries: the block of keys before goes to the state.
  template <class Context>
  static TK_DEVICE void absorb(Context& c, reg_tile<float, D, P>& s, maps const* of_task) {
    features u;
    if constexpr (resident) {
      mm_ab(u, c.in.take().x, of_task->k);
      wait<0>(u);
      c.in.release();
    } else {
      reg_tile<T, C, D> k;
      project(c, u, k);
    }
    put_keys(c, u);
    add_sums(c, c.scratch.z, 0, 2);
    add_block(c, s, c.in.take());
    c.in.release();
    if constexpr (Outputs) put_state(c, s);
  }

  // A step with queries.
  template <class Context>
  static TK_DEVICE void attend(Context& c, args const& a, task const& t, reg_tile<float, D, P>& s,
                               int block, int col, maps const* of_task) {
    bool const adds = block > 0 && (block + 1) * C <= t.at.n;  // the block before to the state
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
    column sum = put_queries(c, u, a.alpha.at(t.head));
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
      if (adds) put_keys(c, u), add_sums(c, c.scratch.z, 0, 2);
    }
    mma_ab(o, p, columns<P>(c.in.take().v, c.w.id()));
    if constexpr (!resident) {
      wait<0>(o, p);
      c.in.release();
    }
    auto const& v_before = c.in.take();
    mma_ab(o, p_before, columns<P>(v_before.v, c.w.id()));
    wait<0>(o, p, p_before);
    leave(a, t, at, col, o, sum + least_sum);
    if constexpr (resident) {
      if (adds) {
        mm_ab(u, before->x, of_task->k);
        wait<0>(u);
        put_keys(c, u);
        add_sums(c, c.scratch.z, 0, 2);
      }
    }
    if (adds) add_block(c, s, v_before);
    c.in.release();
    if constexpr (resident) {  // k and v of the block before, too
      c.in.release();
      c.in.release();
    }
    if (adds) put_state(c, s);
    else c.w.sync();
  }
  // o, and what it was divided by.
  static TK_DEVICE void leave(args const& a, task const& t, hedgehog_rows::rows_of_block const& at,
                              int col, reg_tile<float, C, P>& o, column const& sum) {
    o = o * reciprocal(sum);
    if (a.normaliser.data && col == 0)
      tk::store(a.normaliser.data + t.at.batch * a.normaliser.b_stride +
                    t.head * a.normaliser.h_stride + at.row,
                sum, at.n);
    tk::store(window(a.o, at.row, col, t.head, t.at.batch, at.row + at.n), cast<T>(o));
  }

  // Those steps by a pair of workers. Each begins when both have read what they share, and ends
  // when this one has.
  template <class Context>
  static TK_DEVICE void absorb_half(Context& c, reg_tile<float, D, P>& s, maps const& of_task) {
    int const half = c.w.id();
    auto& both = c.scratches[0];
    features u, e;
    mm_ab(u, c.in.take().x, of_task.k);
    wait<0>(u);
    c.in.release();
    softmax_of(e, u, half == 1);
    e = max(e, least_feature);
    col_sum(c.w, c.scratch.sum[half], e, c.scratch.exchange);
    c.all.await();
    tk::store(columns<F>(both.phi, half), cast<T>(e));
    add_sums(c, both.z, half, half + 1);
    meet<true>(c);
    mma_atb(s, both.phi, columns<P>(c.in.take().v, c.w.id()));
    wait<0>(s);
    c.in.release();
    c.all.arrive();
    if constexpr (Outputs) put_state(c, s);
  }
  template <class Context>
  static TK_DEVICE void attend_half(Context& c, args const& a, task const& t,
                                    reg_tile<float, D, P>& s, int block, int col,
                                    maps const& of_task) {
    bool const adds = block > 0 && (block + 1) * C <= t.at.n;  // the block before to the state
    bool const first = c.w.id() == 0;
    auto &of_own = c.scratches[0], &of_before = c.scratches[1];
    auto const at = t.at.queries(block);
    stage const &q = c.in.take(), &k = c.in.take(), &before = c.in.take();
    features u;
    reg_tile<float, C, C> scores;
    mm_abt(scores, q.x, first ? k.x : before.x);
    mm_ab(u, first ? q.x : before.x, first ? of_task.q : of_task.k);
    wait<0>(scores, u);
    if (first) keep_lower(scores, at.shift, -inf);
    else if (block == 0) scores = -inf;
    column const my_top = row_max(scores);
    c.all.await();
    tk::store(c.scratch.top, my_top);
    column weight = 0.f;
    if (first) weight = put_queries(c, u, a.alpha.at(t.head));
    else if (adds) put_keys(c, u);
    meet<true>(c);
    auto const& other = first ? of_before : of_own;
    column const top = max(my_top, load_col<C>(other.top.data, C, 0.f)) * a.scale_log2;
    reg_tile<T, C, C> p;
    column const share = cast_with_sum(p, exp2(scores * a.scale_log2 - top) * a.beta.at(t.head));
    tk::store(c.scratch.p, p);
    tk::store(c.scratch.weight, column(weight + total(share)));
    meet<true>(c);
    stage const &v = c.in.take(), &v_before = c.in.take();
    reg_tile<float, C, P> o;
    auto const begin_output = [&] {
      mm_ab(o, of_own.phi, c.scratch.state);
      mma_ab(o, of_own.p, columns<P>(v.v, c.w.id()));
      mma_ab(o, of_before.p, columns<P>(v_before.v, c.w.id()));
    };
    if (adds) {
      begin_output();
      mma_atb(s, of_before.phi, columns<P>(v_before.v, c.w.id()));
      if (!first) add_sums(c, of_own.z, 0, 2);
      wait<0>(o, s);
    } else {
      begin_output();
      wait<0>(o);
    }
    column const sum = load_col<C>(of_own.weight.data, C, 0.f) +
                       load_col<C>(of_before.weight.data, C, 0.f) + least_sum;
    for (int i = 0; i < all_tiles; ++i) c.in.release();
    c.all.arrive();
    leave(a, t, at, col, o, sum);
    if (adds) put_state(c, s);
  }
  template <class Context>
  static TK_DEVICE void put_state(Context& c, reg_tile<float, D, P> const& s) {
    tk::store(c.scratch.state, cast<T>(s));
    c.w.sync();
  }
};

}  // namespace tk
