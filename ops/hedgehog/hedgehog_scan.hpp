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
// Overlap   the workers of a block share tiles and go on by themselves; or some make features and
//           weights for the others, a block ahead of them (weighers.hpp).
// Source    Hedgehog: Zhang et al., 2024; LoLCATs: Zhang et al., 2024.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/product.hpp"
#include "ops/hedgehog/features.hpp"
#include "ops/hedgehog/hedgehog_sizes.hpp"
#include "ops/hedgehog/weighers.hpp"

namespace tk {

template <class T, bool Outputs> struct hedgehog_scan {
  using type = T;
  using sizes = hedgehog_sizes<T>;
  static constexpr bool has_outputs = Outputs;
  using args = typename sizes::args;
  static constexpr auto tune = sizes::tune;
  static constexpr int workers = sizes::workers, cluster = 1, stages = tune.slots, own_slots = 1,
                       helpers = tune.weighers, C = sizes::C, D = sizes::D, F = sizes::F,
                       P = sizes::P;
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
  struct own_scratch {
    shared_tile<T, D, P> state;
    shared_tile<T, C, D> phi;
    shared_vec<float, F> z[2];  // of either half of the features
    col_shares<F> shares[2];
  };
  using scratch = std::conditional_t<(helpers > 0), weighers_scratch<T>, own_scratch>;
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
    if (is_done(a, t)) return;
    if constexpr (resident) {
      if (Outputs) load_async(s.q, window(a.map_q, 0, 0, t.head), done);
      load_async(s.k, window(a.map_k, 0, 0, t.head), done);
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (is_done(a, t)) return pass_over(c);
    if constexpr (helpers > 0) hedgehog_weighers<hedgehog_scan>::add(c, a, t);
    else compute_alone(c, a, t);
  }
  template <class Context> static TK_DEVICE void help(Context& c, args const& a, task const& t) {
    if (is_done(a, t)) return pass_over(c);
    hedgehog_weighers<hedgehog_scan>::weigh(c, a, t);
  }

  static TK_BOTH bool is_done(args const& a, task const& t) { return a.adds_only && t.steps == 0; }
  template <class Context> static TK_DEVICE void pass_over(Context& c) {
    if constexpr (resident) {
      c.common.take();
      release_loaded(c.w, c.common);
    }
  }

  // What a task begins with, and what it leaves.
  static TK_DEVICE void begin(reg_tile<float, D, P>& s, args const& a, task const& t, int col) {
    s = 0.f;
    if (begins(a, t)) sizes::begin(s, a, t.sequence, t.head, col);
    if (Outputs && segments(a)) tk::load(s, a.states, sizes::state_of(a, t.block, t.head, col));
  }
  template <class Worker>
  static TK_DEVICE void begin_sums(Worker const& w, shared_vec<float, F> (&z)[2], args const& a,
                                   task const& t) {
    float const* from = nullptr;
    if (Outputs && segments(a)) from = sizes::sums_of(a, t.block, t.head);
    else if (begins(a, t) && a.initial_sums.data && !(a.adds_only && t.part > 0))
      from = a.initial_sums.at(t.sequence, t.head);  // without queries, the first part's alone
    for (int i = w.lane(); i < D; i += be::worker_lanes)
      z[i / F].data[i % F] = from ? from[i] : 0.f;
  }
  static TK_DEVICE bool leaves(args const& a, task const& t) {
    return Outputs ? a.final.data && is_last(a, t) : t.steps > 0 || begins(a, t);
  }
  static TK_DEVICE void leave_state(args const& a, task const& t, int col,
                                    reg_tile<float, D, P> const& s) {
    if constexpr (Outputs)
      store_direct(a.final, 0, col, t.head, t.sequence, cast<float>(s), a.final_width);
    else tk::store(a.states, sizes::state_of(a, t.block, t.head, col), s);
  }
  template <class Worker>
  static TK_DEVICE void leave_sums(Worker const& w, shared_vec<float, F> const (&z)[2],
                                   args const& a, task const& t) {
    float* const to =
        Outputs ? a.final_sums.at(t.sequence, t.head) : sizes::sums_of(a, t.block, t.head);
    for (int i = w.lane(); i < D; i += be::worker_lanes) to[i] = z[i / F].data[i % F];
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
  // Whether the block before goes to the state.
  static TK_DEVICE bool adds(task const& t, int block) {
    return block > 0 && (block + 1) * C <= t.at.n;
  }

 private:
  template <class Context>
  static TK_DEVICE void compute_alone(Context& c, args const& a, task const& t) {
    int const col = t.part * sizes::V + c.w.id() * P;
    maps const* of_task = nullptr;
    if constexpr (resident) of_task = &c.common.take();
    reg_tile<float, D, P> s;
    begin(s, a, t, col);
    if constexpr (Outputs) tk::store(c.scratch.state, cast<T>(s * a.alpha.at(t.head)));
    begin_sums(c.w, c.scratch.z, a, t);
    // What may lie where results go has been read.
    if constexpr (Outputs) c.all.arrive();
    c.w.sync();
    for (int block = t.first; block < t.absorbing; ++block) absorb(c, a, t, s, of_task);
    if constexpr (Outputs)
      for (int block = t.absorbing; block < t.last; ++block)
        attend(c, a, t, s, block, col, of_task);
    if constexpr (resident) c.common.release();
    if constexpr (Outputs) c.all.await();
    if (!leaves(a, t)) return;
    leave_state(a, t, col, s);
    if (col == 0) leave_sums(c.w, c.scratch.z, a, t);
  }

  // phi(k) to shared memory, and its sums to z.
  template <class Context> static TK_DEVICE void add_keys(Context& c, features const& u) {
    put_keys(c.w, c.scratch.phi, c.scratch.shares, u,
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
    bool const adds = hedgehog_scan::adds(t, block);
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
    leave(a, t, at, col, o, sum + least_sum);
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
    tk::store(c.scratch.state, cast<T>(s * alpha));
    c.w.sync();
  }
};

}  // namespace tk
