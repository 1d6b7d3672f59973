// SPDX-License-Identifier: MIT
// The windows of Hedgehog's backward (ops/hedgehog/backward_args.hpp). A task has a block of 64
// tokens of a head; a worker has 64 columns of its results, or all. P is the weight without beta.
//   queries   dP = dout v / sum - dout o / sum,  ds = scale (beta P dP - [P is 1] edge),
//             edge = beta sum of P dP / how many P are 1;  dq = ds k + du map_q^T
//   keys      the same transposed: dk = ds^T q + du map_k^T,
//             dv = beta P^T (dout / sum) + what the linear part gives
// Numerics  scores, weights and their gradients in fp32; p / sum, ds and du are rounded to T.
#pragma once
#include "ops/hedgehog/backward_args.hpp"

namespace tk {

// What both kernels of windows have in common. W: so many columns have sinks and halves of maps.
template <class T> struct hedgehog_window_sizes : hedgehog_backward_sizes<T> {
  using sizes = hedgehog_backward_sizes<T>;
  using args = typename sizes::args;
  using task = typename sizes::block_task;
  static constexpr bool whole = sizes::tune.window_blocks > 1;
  static constexpr int workers = whole ? 1 : sizes::workers, W = sizes::P, P = whole ? sizes::D : W,
                       of_block = sizes::D / (workers * P),
                       stages = whole ? sizes::tune.window_slots : sizes::tune.slots;
  static TK_BOTH int tasks(args const& a) { return sizes::block_tasks(a, sizes::C, of_block); }
  static TK_BOTH task task_at(args const& a, int i) {
    return sizes::block_task_at(a, i, sizes::C, of_block);
  }
  // P rows of a map.
  template <class Half, class Map>
  static TK_DEVICE auto const& rows_of(Half const& half, Map const& map) {
    if constexpr (whole) return map;
    else return half;
  }
  template <class Sink, class X>
  static TK_DEVICE void store_rows(Sink const& to, X const& x, int row, int col, int head,
                                   int batch, int end) {
    TK_UNROLL
    for (int i = 0; i < P / W; ++i)
      store(window(to, row, col + i * W, head, batch, end), cast<T>(columns<W>(x, i)));
  }
};

template <class T> struct hedgehog_window_queries {
  using sizes = hedgehog_window_sizes<T>;
  using args = typename sizes::args;
  using task = typename sizes::task;
  static constexpr int workers = sizes::workers, cluster = 1, stages = sizes::stages, own_slots = 1,
                       blocks_per_unit = sizes::tune.window_blocks, C = sizes::C, D = sizes::D,
                       F = sizes::F, P = sizes::P;
  using scores = reg_tile<float, C, C>;
  using column = reg_col<float, C>;
  union stage {
    shared_tile<T, C, D> x;
    shared_tile<T, P, F> half[workers];  // of a map, or all of it
  };
  struct own {};
  struct scratch {
    shared_vec<float, C> rows;
  };

  static TK_BOTH int tasks(args const& a) { return sizes::tasks(a); }
  // q, k, k of the block before, dout, v, v before, k, k before, P rows of q's map.
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto t = sizes::task_at(a, i);
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
          load_async(
              s.half[w],
              window(sizes::rows_of(a.half_q, a.map_q), (t.part * workers + w) * P, 0, t.head),
              done);
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
    sizes::store_rows(a.dq, dq, at.row, col, t.head, t.at.batch, at.row + at.n);
  }
};

template <class T> struct hedgehog_window_keys {
  using sizes = hedgehog_window_sizes<T>;
  using args = typename sizes::args;
  using task = typename sizes::task;
  static constexpr int workers = sizes::workers, cluster = 1, stages = sizes::stages, own_slots = 1,
                       blocks_per_unit = sizes::tune.window_blocks, C = sizes::C, D = sizes::D,
                       F = sizes::F, P = sizes::P;
  static constexpr bool resident = sizes::tune.resident,  // k and v stay in shared memory
      whole = sizes::whole;
  static_assert(stages >= (whole ? 4 : 2),
                "q and dout are there together, whole those of two blocks");
  static_assert(resident || !whole);
  using scores = reg_tile<float, C, C>;  // keys, queries
  union stage {
    shared_tile<T, C, D> x;
    shared_tile<T, P, F> half[workers];
  };
  struct keys {
    shared_tile<T, C, D> k, v;
  };
  using common = std::conditional_t<resident, keys, no_memory>;
  struct own {};
  struct numbers {
    shared_vec<float, C> top, edge, inverse, delta;
  };
  struct scratch {
    numbers of[whole ? 2 : 1];
  };

  static TK_BOTH int tasks(args const& a) { return sizes::tasks(a); }
  // k, v; q and dout of the own block, and of the next; P rows of k's map.
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto t = sizes::task_at(a, i);
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
          load_async(
              s.half[w],
              window(sizes::rows_of(a.half_k, a.map_k), (t.part * workers + w) * P, 0, t.head),
              done);
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
      if constexpr (whole) all_gradients(c, a, t, kv.k, kv.v);
      else gradients(c, a, t, kv.k, kv.v);
      c.w.sync();  // all lanes have taken what one gives back
      c.common.release();
    } else {
      if (t.steps == 0) return clear_past_length(a, t, t.part * workers + c.w.id());
      reg_tile<T, C, D> k, v;
      take_rows(c, k);
      take_rows(c, v);
      gradients(c, a, t, k, v);
    }
  }

 private:
  template <class Context, class Keys, class Values>
  static TK_DEVICE void gradients(Context& c, args const& a, task const& t, Keys& k, Values& v) {
    int const part = t.part * workers + c.w.id();
    clear_past_length(a, t, part);
    if (t.steps == 0) return;
    reg_tile<float, C, P> dk = 0.f, dv = 0.f;
    for (int next = 0; next < 2; ++next) add_queries(c, a, t, dk, dv, k, v, next, part);
    leave_keys(c, a, t, dk, part);
    leave_values(a, t, dv, part);
  }
  // All columns at once: dv of both blocks of queries, then dk, so that one of them is in
  // registers.
  template <class Context>
  static TK_DEVICE void all_gradients(Context& c, args const& a, task const& t,
                                      shared_tile<T, C, D> const& k,
                                      shared_tile<T, C, D> const& v) {
    clear_past_length(a, t, 0);
    if (t.steps == 0) return;
    bool there[2];
    scores s[2];
    reg_tile<float, C, P> dv = 0.f;
    TK_UNROLL
    for (int next = 0; next < 2; ++next) {
      auto const at = t.at.queries(t.block + next);
      there[next] = at.n > 0;
      auto const &q = c.in.take().x, &dout = c.in.take().x;
      if (!there[next]) continue;
      auto& x = c.scratch.of[next];
      read_numbers(c, a, t, at, x);
      mm_abt(s[next], k, q);
      wait<0>(s[next]);
      weigh(s[next], a, x, at, next);
      reg_tile<T, C, C> p = cast<T>(s[next] * a.beta.at(t.head) * as_row(x.inverse));
      mma_ab(dv, p, dout);
      wait<0>(dv, p);
    }
    leave_values(a, t, dv, 0);
    reg_tile<float, C, P> dk = 0.f;
    TK_UNROLL
    for (int next = 0; next < 2; ++next) {
      if (there[next]) {
        scores d;
        mm_abt(d, v, c.in.peek(1).x);
        wait<0>(d);
        auto ds = gradient_of(s[next], d, a, c.scratch.of[next], a.beta.at(t.head));
        mma_ab(dk, ds, c.in.peek(0).x);
        wait<0>(dk, ds);
      } else {
        c.w.sync();  // all lanes have taken what one gives back
      }
      c.in.release();
      c.in.release();
    }
    leave_keys(c, a, t, dk, 0);
  }

  // What lies before or behind the window's products, for `part` of the columns.
  // 0 for the keys of a block that are past the sequence's length.
  static TK_DEVICE void clear_past_length(args const& a, task const& t, int part) {
    if (!a.rows.lengths) return;
    int const end = t.at.first + t.at.n, block = t.at.first + t.number * C,
              row = block > end ? block : end, all = t.at.first + a.rows.keys.n;
    if (row >= block + C || row >= all) return;
    int const last = block + C < all ? block + C : all;
    reg_tile<float, C, P> const zero = 0.f;
    sizes::store_rows(a.dk, zero, row, part * P, t.head, t.at.batch, last);
    sizes::store_rows(a.dv, zero, row, part * P, t.head, t.at.batch, last);
  }
  template <class Context>
  static TK_DEVICE void leave_keys(Context& c, args const& a, task const& t,
                                   reg_tile<float, C, P>& dk, int part) {
    int const row = t.at.first + t.block * C, end = t.at.first + t.at.n;
    if (t.block < sizes::linear_blocks(t.at)) {
      auto du = sizes::sum_of(a.du_k, row, end, t.head, t.at.batch);
      mma_abt(dk, du, c.in.take().half[c.w.id()]);
      wait<0>(dk, du);
      c.in.release();
    } else {
      skip(c, 1);
    }
    sizes::store_rows(a.dk, dk, row, part * P, t.head, t.at.batch, end);
  }
  static TK_DEVICE void leave_values(args const& a, task const& t, reg_tile<float, C, P>& dv,
                                     int part) {
    int const row = t.at.first + t.block * C, end = t.at.first + t.at.n;
    if (t.block < sizes::linear_blocks(t.at)) TK_UNROLL
    for (auto const& given : a.linear_dv)
      sizes::add_rows(dv, given, row, end, part * P, t.head, t.at.batch);
    sizes::store_rows(a.dv, dv, row, part * P, t.head, t.at.batch, end);
  }
  // Those of a block of queries, for all lanes.
  template <class Context>
  static TK_DEVICE void read_numbers(Context& c, args const& a, task const& t,
                                     hedgehog_rows::rows_of_block const& at, numbers& x) {
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
  }
  static TK_DEVICE void weigh(scores& s, args const& a, numbers const& x,
                              hedgehog_rows::rows_of_block const& at, int next) {
    s = exp2((s - as_row(x.top)) * a.scale_log2);
    if (next == 0) keep_upper(s, at.shift, 0.f);
  }
  static TK_DEVICE reg_tile<T, C, C> gradient_of(scores const& s, scores& d, args const& a,
                                                 numbers const& x, float beta) {
    d = d * as_row(x.inverse) - as_row(x.delta);
    return cast<T>((s * d * beta - map<is_one>(s) * as_row(x.edge)) * a.scale);
  }

  template <class Context, class Keys, class Values>
  static TK_DEVICE void add_queries(Context& c, args const& a, task const& t,
                                    reg_tile<float, C, P>& dk, reg_tile<float, C, P>& dv, Keys& k,
                                    Values& v, int next, int part) {
    auto const at = t.at.queries(t.block + next);
    if (at.n == 0) return skip(c, 2);
    auto& x = c.scratch.of[0];
    read_numbers(c, a, t, at, x);
    float const beta = a.beta.at(t.head);
    scores s, d;
    auto const& q = c.in.take();
    mm_abt(s, k, q.x);
    auto const& dout = c.in.take();
    if constexpr (resident) mm_abt(d, v, dout.x);  // else registers are few
    wait<resident>(s);
    weigh(s, a, x, at, next);
    reg_tile<T, C, C> p = cast<T>(s * beta * as_row(x.inverse));
    mma_ab(dv, p, columns<P>(dout.x, part));
    if constexpr (!resident) mm_abt(d, v, dout.x);
    wait<0>(d, dv, p);
    auto ds = gradient_of(s, d, a, x, beta);
    mma_ab(dk, ds, columns<P>(q.x, part));
    wait<0>(dk, ds);
    c.in.release();
    c.in.release();
  }
};

}  // namespace tk
