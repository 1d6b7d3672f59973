// SPDX-License-Identifier: MIT
// What is summed over rows and tokens in Hedgehog's backward (ops/hedgehog/backward_args.hpp): each
// query's numbers before, gradients of maps and factors after all else. Sums of segments of 1024
// tokens are left in the workspace, and summed in the order of sequences.
#pragma once
#include "ops/hedgehog/backward_args.hpp"

namespace tk {

// 1 / sum and dout o / sum of all queries in memory, those of no sequence, too.
template <class T> struct hedgehog_rows_before {
  using sizes = hedgehog_backward_sizes<T>;
  using args = typename sizes::args;
  static constexpr int workers = 1, cluster = 1, stages = 2, own_slots = 1, C = sizes::C,
                       D = sizes::D;
  struct stage {
    shared_tile<T, C, D> x;
  };
  struct own {};
  struct scratch {};
  struct task {
    int batch, head, row, steps;
  };
  static TK_BOTH int blocks(args const& a) { return ceil_div(a.rows.nq, C); }
  static TK_BOTH int tasks(args const& a) { return a.batches * a.rows.keys.h * blocks(a); }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const h = a.rows.keys.h;
    return {i / (blocks(a) * h), i % h, i / h % blocks(a) * C, 2};
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    load_async(s.x, window(step == 0 ? a.dout : a.o, t.row, 0, t.head, t.batch), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    reg_tile<T, C, D> dout, o;
    take_rows(c, dout);
    take_rows(c, o);
    int const left = a.rows.nq - t.row;
    float const* const sums = sizes::row(a.normaliser, t.batch, t.head, t.row);
    reg_col<float, C> const inverse = reciprocal(load_col<C>(sums, left, 1.f));
    store(sizes::row(a.inverse, t.batch, t.head, t.row), inverse, left);
    store(sizes::row(a.delta, t.batch, t.head, t.row), row_sum(dout * o) * inverse, left);
  }
};

// x^T du over a segment's tokens, of q or of k; a worker has 64 rows of the map.
template <class T, bool Queries> struct hedgehog_map_segments {
  using sizes = hedgehog_backward_sizes<T>;
  using args = typename sizes::args;
  using task = typename sizes::block_task;
  static constexpr int workers = sizes::workers, cluster = 1, stages = sizes::tune.slots,
                       own_slots = 1, C = sizes::C, D = sizes::D, F = sizes::F, P = sizes::P,
                       segment = sizes::segment;
  struct stage {
    shared_tile<T, C, D> x;
  };
  struct own {};
  struct scratch {
    shared_tile<T, C, F> du;
  };

  static TK_BOTH int tasks(args const& a) { return sizes::block_tasks(a, segment * C); }
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto t = sizes::block_task_at(a, i, segment * C);
    if (t.block < 0) return t;
    int const blocks = Queries ? ceil_div(t.at.n, C) : sizes::linear_blocks(t.at),
              left = blocks - t.block * segment;
    t.steps = left < 0 ? 0 : left < segment ? left : segment;
    return t;
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const block = t.block * segment + step;
    if constexpr (Queries) sizes::load_queries(s.x, a.q, t.at, t.head, block, done);
    else sizes::load_keys(s.x, a.k, t.at, t.head, block, done);
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (t.block < 0) return;
    int const part = t.part * workers + c.w.id();
    reg_tile<float, P, F> sum = 0.f;
    for (int step = 0; step < t.steps; ++step) {
      int const block = t.block * segment + step;
      auto const at = t.at.queries(block);
      int const row = Queries ? at.row : t.at.first + block * C,
                end = Queries ? at.row + at.n : t.at.first + t.at.n;
      auto const& du_of = Queries ? a.du_q : a.du_k;
      auto const du = sizes::sum_of(du_of, row, end, t.head, t.at.batch);
      store(c.scratch.du, du);
      c.w.sync();
      mma_atb(sum, columns<P>(c.in.take().x, part), c.scratch.du);
      wait<0>(sum);
      c.w.sync();  // all have read it
      c.in.release();
    }
    std::int64_t const nth = a.rows.keys.first_block(t.sequence, segment * C) + t.block;
    store(a.dmaps, (nth * a.rows.keys.h + t.head) * 2 + part, sum);
  }
};

// The segments' sums, and with Factors the sums that alpha and beta get, which may be null.
template <class T> struct hedgehog_sums {
  using sizes = hedgehog_backward_sizes<T>;
  struct args {
    typename sizes::args of;
    tensor<float> dmap;  // [h, 128, 64]; data may be null
    int width;
    tensor<float> dalpha, dbeta;  // [h, 1]
  };
  static constexpr int workers = 1, cluster = 1, stages = 1, own_slots = 1, C = sizes::C,
                       P = sizes::P, F = sizes::F;
  struct stage {};
  struct own {};
  struct scratch {
    float sums[be::worker_lanes];
  };
  struct task {
    int head, part, steps;
  };
  static TK_BOTH int tasks(args const& a) { return a.of.rows.keys.h * 2; }
  static TK_BOTH task task_at(args const&, int i, int) { return {i / 2, i % 2, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto const& rows = a.of.rows;
    int const h = rows.keys.h;
    if (a.dmap.data) {
      reg_tile<float, P, F> sum = 0.f;
      for (int s = 0; s < rows.keys.b; ++s) {
        int const first = rows.keys.first_block(s, sizes::segment * C),
                  count = ceil_div(rows.sequence(s).n, sizes::segment * C);
        for (int i = 0; i < count; ++i)
          load_add(sum, a.of.dmaps, (std::int64_t{first + i} * h + t.head) * 2 + t.part);
      }
      store_direct(a.dmap, t.part * P, 0, t.head, 0, cast<float>(sum), a.width);
    }
    if (t.part == 0 && a.dalpha.data) {
      float sum = 0;
      for (int i = c.w.lane(); i < 2 * rows.keys.b; i += be::worker_lanes)
        sum += a.of.alpha_sums[(i / 2 * h + t.head) * 2 + i % 2];
      put_sum(c, sum, a.dalpha.at(0, 0, t.head));
    }
    if (t.part == 1 && a.dbeta.data) {
      float sum = 0;
      for (int s = 0; s < rows.keys.b; ++s) {
        int const first = rows.keys.first_block(s, C), count = ceil_div(rows.sequence(s).n, C);
        for (int i = c.w.lane(); i < count; i += be::worker_lanes)
          sum += a.of.beta_sums[std::int64_t{first + i} * h + t.head];
      }
      put_sum(c, sum, a.dbeta.at(0, 0, t.head));
    }
  }

 private:
  template <class Context> static TK_DEVICE void put_sum(Context& c, float sum, float* to) {
    c.scratch.sums[c.w.lane()] = sum;
    c.w.sync();
    if (!c.w.leader()) return;
    float all = 0;
    for (float const x : c.scratch.sums) all += x;
    *to = all;
  }
};

}  // namespace tk
