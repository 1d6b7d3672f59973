// SPDX-License-Identifier: MIT
// The linear part of Hedgehog's backward (ops/hedgehog/backward_args.hpp): two scans over the
// blocks of a sequence and head, of which a worker has the half of the features of one sign.
//   queries   at block c, S and z hold blocks up to c - 2:
//               dphi(q) = alpha (dout S^T / sum - z dout o / sum)
//   keys      at block c, R and r hold queries from block c + 2 on, and the final states' gradient:
//               dphi(k) = v R^T + r,  dv = phi(k) R
// Numerics  as the forward; S and R are rounded to T where they are operands, and so are features.
#pragma once
#include "ops/hedgehog/backward_args.hpp"

namespace tk {

template <class T> struct hedgehog_query_features {
  using sizes = hedgehog_backward_sizes<T>;
  using args = typename sizes::args;
  static constexpr int workers = sizes::workers, cluster = 1, stages = sizes::tune.slots,
                       own_slots = 1, C = sizes::C, D = sizes::D, F = sizes::F;
  using features = reg_tile<float, C, F>;
  union stage {
    shared_tile<T, C, D> x;
    shared_tile<T, D, F> map;
  };
  struct own {};
  struct scratch {
    shared_tile<T, F, D> state;
    shared_tile<T, C, F> phi;
    shared_vec<float, F> z, sum;
    shared_vec<float, C> rows;
    col_exchange<F> exchange;
    typename sizes::exchanged exchanged;
  };
  struct task {
    int sequence, head, part;
    int first, absorbing, last, steps;  // blocks: those before `absorbing` have no queries
    hedgehog_rows::place at;
  };
  // q, its map, dout; k of the block before, its map, v.
  static constexpr int absorbed = 3, all_tiles = 6;

  static TK_BOTH int tasks(args const& a) { return a.rows.keys.b * a.rows.keys.h * sizes::parts; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const h = a.rows.keys.h;
    task t{};
    t.part = i % sizes::parts;
    t.head = i / sizes::parts % h;
    t.sequence = i / (sizes::parts * h);
    t.at = a.rows.sequence(t.sequence);
    t.absorbing = t.at.past / C;
    t.first = t.absorbing > 0 ? 1 : 0;
    t.last = ceil_div(t.at.n, C);
    if (t.at.nq == 0) t.first = t.absorbing = t.last = 0;
    t.steps = (t.absorbing - t.first) * absorbed + (t.last - t.absorbing) * all_tiles;
    return t;
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const rest = step - (t.absorbing - t.first) * absorbed;
    int const block = rest < 0 ? t.first + step / absorbed : t.absorbing + rest / all_tiles;
    switch (rest < 0 ? 3 + step % absorbed : rest % all_tiles) {
      case 0: return sizes::load_queries(s.x, a.q, t.at, t.head, block, done);
      case 1: return load_async(s.map, window(a.map_q, 0, 0, t.head), done);
      case 2: return sizes::load_queries(s.x, a.dout, t.at, t.head, block, done);
      case 3: return sizes::load_keys(s.x, a.k, t.at, t.head, block - 1, done);
      case 4: return load_async(s.map, window(a.map_k, 0, 0, t.head), done);
      default: return sizes::load_keys(s.x, a.v, t.at, t.head, block - 1, done);
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const half = t.part * workers + c.w.id();
    reg_tile<float, F, D> s = 0.f;
    if (a.initial.data)
      add_scaled(s, 1.f, a.initial, a.initial_width, half * F, 0, t.head, t.sequence);
    for (int i = c.w.lane(); i < F; i += be::worker_lanes)
      c.scratch.z.data[i] =
          a.initial_sums.data ? a.initial_sums.at(t.sequence, t.head)[half * F + i] : 0.f;
    put_state(c, s);
    for (int block = t.first; block < t.absorbing; ++block) absorb(c, s, half);
    float alpha_sum = 0;
    for (int block = t.absorbing; block < t.last; ++block) {
      alpha_sum += gradient(c, a, t, block, half);
      if (block > 0 && block + 1 < t.last) absorb(c, s, half);
      else skip(c, absorbed);
    }
    if (c.w.leader()) a.alpha_sums[(t.sequence * a.rows.keys.h + t.head) * 2 + half] = alpha_sum;
  }

 private:
  template <class Context>
  static TK_DEVICE void put_state(Context& c, reg_tile<float, F, D> const& s) {
    store(c.scratch.state, cast<T>(s));
    c.w.sync();
  }
  template <class Context>
  static TK_DEVICE void absorb(Context& c, reg_tile<float, F, D>& s, int half) {
    features u, e;
    reg_tile<T, C, D> k;
    project(c, u, k);
    softmax_of(e, u, half == 1);
    e = max(e, least_feature);
    store(c.scratch.phi, cast<T>(e));
    col_sum(c.w, c.scratch.sum, e, c.scratch.exchange);
    for (int i = c.w.lane(); i < F; i += be::worker_lanes)
      c.scratch.z.data[i] += c.scratch.sum.data[i];
    c.w.sync();
    mma_atb(s, c.scratch.phi, c.in.take().x);
    wait<0>(s);
    c.in.release();
    put_state(c, s);
  }
  // Returns the leader's sum of what alpha multiplies.
  template <class Context>
  static TK_DEVICE float gradient(Context& c, args const& a, task const& t, int block, int half) {
    auto const at = t.at.queries(block);
    features u, e, d;
    reg_tile<T, C, D> q;
    project(c, u, q);
    softmax_of(e, u, half == 1);
    mm_abt(d, c.in.take().x, c.scratch.state);
    wait<0>(d);
    c.in.release();
    auto const inverse = sizes::column(a.inverse, t.at, t.head, at),
               delta = sizes::column(a.delta, t.at, t.head, at);
    d = d * inverse - as_row(c.scratch.z) * delta;
    store(c.scratch.rows, row_sum(max(e, least_feature) * d));
    c.w.sync();
    float sum = 0;
    if (c.w.leader())
      for (int i = 0; i < at.n; ++i) sum += c.scratch.rows.data[i];
    d = d * a.alpha.at(t.head);
    gradient_of_softmax(u, e, d, half == 1);
    sizes::leave_du(c, a.du_q, t.part, u, at.row, at.row + at.n, t.head, t.at.batch);
    c.w.sync();  // the rows, z and the state have been read
    return sum;
  }
};

template <class T> struct hedgehog_key_features {
  using sizes = hedgehog_backward_sizes<T>;
  using args = typename sizes::args;
  static constexpr int workers = sizes::workers, cluster = 1, stages = sizes::tune.slots,
                       own_slots = 1, C = sizes::C, D = sizes::D, F = sizes::F;
  using features = reg_tile<float, C, F>;
  union stage {
    shared_tile<T, C, D> x;
    shared_tile<T, D, F> map;
  };
  struct own {};
  struct scratch {
    shared_tile<T, F, D> state;
    shared_tile<T, C, F> phi;
    shared_vec<float, F> r, sum;
    col_exchange<F> exchange;
    typename sizes::exchanged exchanged;
  };
  struct task {
    int sequence, head, part, blocks, rest, steps;  // blocks of keys; of queries behind them
    hedgehog_rows::place at;
  };
  // q, its map, dout of the block after the next; k, its map, v.
  static constexpr int added = 3, all_tiles = 6;

  static TK_BOTH int tasks(args const& a) { return a.rows.keys.b * a.rows.keys.h * sizes::parts; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const h = a.rows.keys.h;
    task t{};
    t.part = i % sizes::parts;
    t.head = i / sizes::parts % h;
    t.sequence = i / (sizes::parts * h);
    t.at = a.rows.sequence(t.sequence);
    t.blocks = sizes::linear_blocks(t.at);
    // All queries meet the initial state.
    if (a.dinitial.data) t.rest = t.at.n / C > 0 ? 2 : 1;
    t.steps = t.blocks * all_tiles + t.rest * added;
    return t;
  }
  // The last block of queries that any block of keys is far enough from comes first.
  static TK_BOTH int query_block(task const& t, int step) {
    int const rest = step - t.blocks * all_tiles;
    return rest < 0 ? t.blocks + 1 - step / all_tiles : t.rest - 1 - rest / added;
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const rest = step - t.blocks * all_tiles, block = query_block(t, step);
    switch (rest < 0 ? step % all_tiles : rest % added) {
      case 0: return sizes::load_queries(s.x, a.q, t.at, t.head, block, done);
      case 1: return load_async(s.map, window(a.map_q, 0, 0, t.head), done);
      case 2: return sizes::load_queries(s.x, a.dout, t.at, t.head, block, done);
      case 3: return sizes::load_keys(s.x, a.k, t.at, t.head, block - 2, done);
      case 4: return load_async(s.map, window(a.map_k, 0, 0, t.head), done);
      default: return sizes::load_keys(s.x, a.v, t.at, t.head, block - 2, done);
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const half = t.part * workers + c.w.id();
    reg_tile<float, F, D> r = 0.f;
    if (a.dfinal.data)
      add_scaled(r, 1.f, a.dfinal, a.dfinal_width, half * F, 0, t.head, t.sequence);
    for (int i = c.w.lane(); i < F; i += be::worker_lanes)
      c.scratch.r.data[i] =
          a.dfinal_sums.data ? a.dfinal_sums.at(t.sequence, t.head)[half * F + i] : 0.f;
    c.w.sync();
    for (int i = 0; i < t.blocks; ++i) {
      add_queries(c, a, t, r, t.blocks + 1 - i, half);
      store(c.scratch.state, cast<T>(r));
      c.w.sync();
      gradient(c, a, t, t.blocks - 1 - i, half);
    }
    for (int block = t.rest - 1; block >= 0; --block) add_queries(c, a, t, r, block, half);
    if (!a.dinitial.data) return;
    store_direct(a.dinitial, half * F, 0, t.head, t.sequence, cast<float>(r), a.dinitial_width);
    for (int i = c.w.lane(); i < F; i += be::worker_lanes)
      a.dinitial_sums.at(t.sequence, t.head)[half * F + i] = c.scratch.r.data[i];
  }

 private:
  template <class Context>
  static TK_DEVICE void add_queries(Context& c, args const& a, task const& t,
                                    reg_tile<float, F, D>& r, int block, int half) {
    auto const at = t.at.queries(block);
    if (at.n == 0) return skip(c, added);
    features u, e;
    reg_tile<T, C, D> q;
    project(c, u, q);
    softmax_of(e, u, half == 1);
    e = max(e, least_feature);
    float const alpha = a.alpha.at(t.head);
    auto const inverse = sizes::column(a.inverse, t.at, t.head, at),
               delta = sizes::column(a.delta, t.at, t.head, at);
    store(c.scratch.phi, cast<T>(e * (inverse * alpha)));
    col_sum(c.w, c.scratch.sum, e * delta, c.scratch.exchange);
    for (int i = c.w.lane(); i < F; i += be::worker_lanes)
      c.scratch.r.data[i] -= alpha * c.scratch.sum.data[i];
    c.w.sync();
    mma_atb(r, c.scratch.phi, c.in.take().x);
    wait<0>(r);
    c.in.release();
  }
  template <class Context>
  static TK_DEVICE void gradient(Context& c, args const& a, task const& t, int block, int half) {
    int const row = t.at.first + block * C, end = t.at.first + t.at.n;
    features u, e, d;
    {
      reg_tile<T, C, D> k;
      project(c, u, k);
    }
    softmax_of(e, u, half == 1);
    reg_tile<T, C, F> phi = cast<T>(max(e, least_feature));
    {
      reg_tile<float, C, D> dv;
      mm_ab(dv, phi, c.scratch.state);
      wait<0>(dv, phi);
      leave_dv(c, a, t, dv, row, end);
    }
    mm_abt(d, c.in.take().x, c.scratch.state);
    wait<0>(d);
    c.in.release();
    d = d + as_row(c.scratch.r);
    gradient_of_softmax(u, e, d, half == 1);
    sizes::leave_du(c, a.du_k, t.part, u, row, end, t.head, t.at.batch);
    c.w.sync();  // r and the state have been read
  }
  // What the linear part gives dv: where workers have both halves, each the sum of F columns.
  template <class Context>
  static TK_DEVICE void leave_dv(Context& c, args const& a, task const& t,
                                 reg_tile<float, C, D> const& dv, int row, int end) {
    auto const to = rows_before(a.linear_dv[t.part], end);
    if constexpr (sizes::parts == 1) {
      auto const leave = [&](auto w) {
        reg_tile<float, C, F> sum;
        sizes::exchange(c, sum, columns<F>(dv, 1 - w));
        sum = columns<F>(dv, w) + sum;
        store_direct(to, row, w * F, t.head, t.at.batch, cast<float>(sum), 2);
      };
      if (c.w.id() == 0) leave(std::integral_constant<int, 0>{});
      else leave(std::integral_constant<int, 1>{});
    } else {
      store_direct(to, row, 0, t.head, t.at.batch, cast<float>(dv), 2);
    }
  }
};

}  // namespace tk
