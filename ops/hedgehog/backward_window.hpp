// SPDX-License-Identifier: MIT
// The windows of Hedgehog's backward (ops/hedgehog/backward_args.hpp). A task has a block of 64
// tokens of a head; a worker has 64 columns of its results. P is the weight without beta.
//   queries   dP = dout v / sum - dout o / sum,  ds = scale (beta P dP - [P is 1] edge),
//             edge = beta sum of P dP / how many P are 1;  dq = ds k + du map_q^T
//   keys      the same transposed: dk = ds^T q + du map_k^T,
//             dv = beta P^T (dout / sum) + what the linear part gives
// Numerics  scores, weights and their gradients in fp32; p / sum, ds and du are rounded to T.
#pragma once
#include "ops/hedgehog/backward_args.hpp"

namespace tk {

template <class T> struct hedgehog_window_queries {
  using sizes = hedgehog_backward_sizes<T>;
  using args = typename sizes::args;
  using task = typename sizes::block_task;
  static constexpr int workers = sizes::workers, cluster = 1, stages = sizes::tune.slots,
                       own_slots = 1, C = sizes::C, D = sizes::D, F = sizes::F, P = sizes::P;
  using scores = reg_tile<float, C, C>;
  using column = reg_col<float, C>;
  union stage {
    shared_tile<T, C, D> x;
    shared_tile<T, P, F> half[workers];  // of a map
  };
  struct own {};
  struct scratch {
    shared_vec<float, C> rows;
  };

  static TK_BOTH int tasks(args const& a) { return sizes::block_tasks(a, C); }
  // q, k, k of the block before, dout, v, v before, k, k before, a half of q's map.
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto t = sizes::block_task_at(a, i, C);
    t.steps = t.block >= 0 && t.at.queries(t.block).n > 0 ? 9 : 0;
    return t;
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    switch (step) {
      case 0: return sizes::load_queries(s.x, a.q, t.at, t.head, t.block, done);
      case 3: return sizes::load_queries(s.x, a.dout, t.at, t.head, t.block, done);
      case 4: return sizes::load_keys(s.x, a.v, t.at, t.head, t.block, done);
      case 5: return sizes::load_keys(s.x, a.v, t.at, t.head, t.block - 1, done);
      case 8:
        TK_UNROLL
        for (int w = 0; w < workers; ++w)
          load_async(s.half[w], window(a.half_q, (t.part * workers + w) * P, 0, t.head), done);
        return;
      default: {
        bool const own = step == 1 || step == 6;
        return sizes::load_keys(s.x, a.k, t.at, t.head, t.block - !own, done);
      }
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const w = c.w.id(), col = (t.part * workers + w) * P;
    std::int64_t const nth = t.block < 0 ? 0 : a.rows.keys.first_block(t.sequence, C) + t.block;
    if (t.steps == 0) {
      if (t.block >= 0 && col == 0 && c.w.leader()) a.beta_sums[nth * a.rows.keys.h + t.head] = 0;
      return;
    }
    auto const at = t.at.queries(t.block);
    float const beta = a.beta.at(t.head);
    scores near, far, d, d_far;
    reg_tile<T, C, D> rows;
    take_rows(c, rows);
    mm_abt(near, rows, c.in.take().x);
    wait<0>(near, rows);
    c.in.release();
    mm_abt(far, rows, c.in.take().x);
    wait<0>(far, rows);
    c.in.release();
    keep_lower(near, at.shift, -inf);
    if (t.block == 0) far = -inf;
    column const top = max(row_max(near), row_max(far));
    near = exp2((near - top) * a.scale_log2);
    far = exp2((far - top) * a.scale_log2);
    take_rows(c, rows);
    mm_abt(d, rows, c.in.take().x);
    wait<0>(d, rows);
    c.in.release();
    mm_abt(d_far, rows, c.in.take().x);
    wait<0>(d_far, rows);
    c.in.release();
    auto const inverse = sizes::column(a.inverse, t.at, t.head, at),
               delta = sizes::column(a.delta, t.at, t.head, at);
    d = d * inverse - delta;
    d_far = d_far * inverse - delta;
    column const sum = total(row_sum_share(near * d) + row_sum_share(far * d_far)),
                 ties = total(row_sum_share(map<is_one>(near)) + row_sum_share(map<is_one>(far))),
                 edge = sum * beta * reciprocal(ties);
    if (col == 0) {
      store(sizes::row(a.top, t.at.batch, t.head, at.row), top, at.n);
      store(sizes::row(a.edge, t.at.batch, t.head, at.row), edge, at.n);
      store(c.scratch.rows, sum);
      c.w.sync();
      if (c.w.leader()) {
        float all = 0;
        for (int i = 0; i < at.n; ++i) all += c.scratch.rows.data[i];
        a.beta_sums[nth * a.rows.keys.h + t.head] = all;
      }
      c.w.sync();
    }
    reg_tile<T, C, C> ds = cast<T>((near * d * beta - map<is_one>(near) * edge) * a.scale),
                      ds_far = cast<T>((far * d_far * beta - map<is_one>(far) * edge) * a.scale);
    reg_tile<float, C, P> dq;
    mm_ab(dq, ds, columns<P>(c.in.take().x, col / P));
    wait<0>(dq, ds);
    c.in.release();
    mma_ab(dq, ds_far, columns<P>(c.in.take().x, col / P));
    wait<0>(dq, ds_far);
    c.in.release();
    auto du = sizes::sum_of(a.du_q, at.row, at.row + at.n, t.head, t.at.batch);
    mma_abt(dq, du, c.in.take().half[w]);
    wait<0>(dq, du);
    c.in.release();
    store(window(a.dq, at.row, col, t.head, t.at.batch, at.row + at.n), cast<T>(dq));
  }
};

template <class T> struct hedgehog_window_keys {
  using sizes = hedgehog_backward_sizes<T>;
  using args = typename sizes::args;
  using task = typename sizes::block_task;
  static constexpr int workers = sizes::workers, cluster = 1, stages = sizes::tune.slots,
                       own_slots = 1, C = sizes::C, D = sizes::D, F = sizes::F, P = sizes::P;
  static constexpr bool resident = sizes::tune.resident;  // k and v stay in shared memory
  static_assert(stages >= 2, "q and dout are there together");
  union stage {
    shared_tile<T, C, D> x;
    shared_tile<T, P, F> half[workers];
  };
  struct keys {
    shared_tile<T, C, D> k, v;
  };
  using common = std::conditional_t<resident, keys, no_memory>;
  struct own {};
  struct scratch {
    shared_vec<float, C> top, edge, inverse, delta;
  };

  static TK_BOTH int tasks(args const& a) { return sizes::block_tasks(a, C); }
  // k, v; q and dout of the own block, and of the next; a half of k's map.
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto t = sizes::block_task_at(a, i, C);
    t.steps = t.block < 0 ? 0 : resident ? 5 : 7;
    return t;
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    switch (resident ? step + 2 : step) {
      case 0: return sizes::load_keys(s.x, a.k, t.at, t.head, t.block, done);
      case 1: return sizes::load_keys(s.x, a.v, t.at, t.head, t.block, done);
      case 2: return sizes::load_queries(s.x, a.q, t.at, t.head, t.block, done);
      case 3: return sizes::load_queries(s.x, a.dout, t.at, t.head, t.block, done);
      case 4: return sizes::load_queries(s.x, a.q, t.at, t.head, t.block + 1, done);
      case 5: return sizes::load_queries(s.x, a.dout, t.at, t.head, t.block + 1, done);
      default:
        TK_UNROLL
        for (int w = 0; w < workers; ++w)
          load_async(s.half[w], window(a.half_k, (t.part * workers + w) * P, 0, t.head), done);
    }
  }
  static TK_DEVICE void load_common(common& s, args const& a, task const& t, be::arrival done) {
    if constexpr (resident) {
      sizes::load_keys(s.k, a.k, t.at, t.head, t.block, done);
      sizes::load_keys(s.v, a.v, t.at, t.head, t.block, done);
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if constexpr (resident) {
      auto const& kv = c.common.take();
      gradients(c, a, t, kv.k, kv.v);
      c.w.sync();  // all lanes have taken what one gives back
      c.common.release();
    } else {
      if (t.steps == 0) return;
      reg_tile<T, C, D> k, v;
      take_rows(c, k);
      take_rows(c, v);
      gradients(c, a, t, k, v);
    }
  }

 private:
  template <class Context, class Keys, class Values>
  static TK_DEVICE void gradients(Context& c, args const& a, task const& t, Keys& k, Values& v) {
    if (t.steps == 0) return;
    int const w = c.w.id(), part = t.part * workers + w, row = t.at.first + t.block * C,
              end = t.at.first + t.at.n;
    reg_tile<float, C, P> dk = 0.f, dv = 0.f;
    for (int next = 0; next < 2; ++next) add_queries(c, a, t, dk, dv, k, v, next, part);
    if (t.block < sizes::linear_blocks(t.at)) {
      auto du = sizes::sum_of(a.du_k, row, end, t.head, t.at.batch);
      mma_abt(dk, du, c.in.take().half[w]);
      wait<0>(dk, du);
      c.in.release();
      TK_UNROLL
      for (auto const& given : a.linear_dv)
        sizes::add_rows(dv, given, row, end, part * P, t.head, t.at.batch);
    } else {
      skip(c, 1);
    }
    store(window(a.dk, row, part * P, t.head, t.at.batch, end), cast<T>(dk));
    store(window(a.dv, row, part * P, t.head, t.at.batch, end), cast<T>(dv));
  }
  template <class Context, class Keys, class Values>
  static TK_DEVICE void add_queries(Context& c, args const& a, task const& t,
                                    reg_tile<float, C, P>& dk, reg_tile<float, C, P>& dv, Keys& k,
                                    Values& v, int next, int part) {
    auto const at = t.at.queries(t.block + next);
    if (at.n == 0) return skip(c, 2);
    auto& x = c.scratch;
    c.w.sync();  // those of the block before have been read
    for (int i = c.w.lane(); i < C; i += be::worker_lanes) {
      // Of the last query behind it, too, so that no load waits for a condition.
      auto const number = [&](query_numbers const& of) {
        return sizes::row(of, t.at.batch, t.head, at.row)[i < at.n ? i : at.n - 1];
      };
      float const top = number(a.top), edge = number(a.edge), inverse = number(a.inverse),
                  delta = number(a.delta);
      bool const there = i < at.n;
      x.top.data[i] = there ? top : 0.f, x.edge.data[i] = there ? edge : 0.f;
      x.inverse.data[i] = there ? inverse : 0.f, x.delta.data[i] = there ? delta : 0.f;
    }
    c.w.sync();
    float const beta = a.beta.at(t.head);
    reg_tile<float, C, C> s, d;  // keys, queries
    auto const& q = c.in.take();
    mm_abt(s, k, q.x);
    auto const& dout = c.in.take();
    if constexpr (resident) mm_abt(d, v, dout.x);  // else registers are few
    wait<resident>(s);
    s = exp2((s - as_row(x.top)) * a.scale_log2);
    if (next == 0) keep_upper(s, at.shift, 0.f);
    reg_tile<T, C, C> p = cast<T>(s * beta * as_row(x.inverse));
    mma_ab(dv, p, columns<P>(dout.x, part));
    if constexpr (!resident) mm_abt(d, v, dout.x);
    wait<0>(d, dv, p);
    d = d * as_row(x.inverse) - as_row(x.delta);
    reg_tile<T, C, C> ds = cast<T>((s * d * beta - map<is_one>(s) * as_row(x.edge)) * a.scale);
    mma_ab(dk, ds, columns<P>(q.x, part));
    wait<0>(dk, ds);
    c.in.release();
    c.in.release();
  }
};

}  // namespace tk
