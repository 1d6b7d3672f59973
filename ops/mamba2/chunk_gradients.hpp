// SPDX-License-Identifier: MIT
// mamba2 backward, a chunk at a time, when scans have left of each chunk and head the state S that
// it meets and the gradient G of the one that it leaves. With q = C, k = B, v = x, w = dt', c_i the
// running sums of the log2 of decays and c those of the whole chunk
//           L_ij = exp2(c_i - c_j) for j <= i, else 0
//           p = q k^T o L                         n = (dout v^T) o L o w_j
//           dq = n k + (exp2(c_i) o dout) S^T     dk = n^T q + (exp2(c - c_j) w_j o v) G^T
//           u = p^T dout + exp2(c - c_j) o k G    dv = w o u + D o dout
// dq and dk are sums over the heads of a group, which share q and k.
// Shapes    q, k[b, n, g, s], s at most D; v, dout, dv[b, n, h, p], P columns at a time.
// Leaves    what ops/mamba2/step_gradients.hpp takes, of each token v u and v dout, and for the
//           gradients of decays what they multiply: dout with what earlier chunks gave, v with what
//           later ones take, what tokens of the chunk have of one another, and shares of <S, G>.
// Order     a task has a chunk and heads_at_once heads of a group, one after another; where a group
//           has more, group_sums.hpp adds up what tasks leave. One worker makes dq, one dk, one dv;
//           when k q^T is there, none waits for another. (Workers that make all three of a head
//           each, two at a time, took 1.15 of the time.) Where v has several parts,
//           dout v^T is summed before, for which v and dout are loaded twice (Many).
// Numerics  sums in fp32; operands, also weighted ones, rounded to T. A factor multiplies what
//           decayed, never its inverse. Pairs of tokens are summed by rows and by columns from the
//           same numbers, so that what does not meet across a token cancels.
#pragma once
#include <type_traits>

#include "backends/kernel.hpp"
#include "core/partial_tiles.hpp"
#include "core/product.hpp"
#include "core/vector.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/mamba2/group_slices.hpp"
#include "ops/mamba2/tuning.hpp"

namespace tk {

// What workers make, from First on, as many of them at once as there are workers.
enum class chunk_gradient { q, k, v };

template <class T, int D, chunk_gradient First, int Workers, bool Many> struct chunk_gradients {
  static constexpr auto tune = be::tune_mamba2_gradients(D);
  static constexpr int workers = Workers, cluster = 1, stages = tune.slots, own_slots = 1,
                       C = ssm_scans::tune(D).C, P = tune.P;
  // <S, G> is summed R rows at a time.
  static constexpr int R = rows_of_met_states;
  using pairs = reg_tile<float, C, C>;
  using part = reg_tile<T, C, P>;
  using column = reg_col<float, C>;

  struct stage {
    shared_tile<T, C, P> dout, v;
    shared_tile<T, D, P> state, gradient;  // S, G
    shared_vec<float, C> decay, weight;
    shared_vec<float, P> skip;
  };
  struct own {};
  struct kept_products {
    shared_partial<C, C> products;  // k q^T, where they are made once for all heads
  };
  struct common : std::conditional_t<tune.together, kept_products, no_memory> {
    shared_tile<T, C, D> q, k;
    shared_tile<T, C, P> out;  // dv on its way
  };
  struct scratch {
    col_shares<C> met[2];  // of a head and the next: lanes meet between two uses
    shared_vec<float, P> columns;
    col_exchange<P> exchange;
  };
  struct args {
    be::source<T, C, D> q, k;
    be::source<T, C, P> v, dout;
    be::source<T, D, P> states, gradients;
    be::sink<T, C, D> dq, dk;
    be::sink<T, C, P> dv;
    group_slices<C, D> slices;
    step_tables tables;
    left_of_chunks left;
    scan_rows rows;
    int columns, parts;  // of v
  };
  struct task {
    int block, group, slice, head, heads, steps;
    chunk_place at;
  };

  static TK_BOTH int tasks(args const& a) { return a.slices.tasks(a.rows.blocks(C)); }
  static TK_BOTH task task_at(args const& a, int i, int) {
    task t{};
    auto const x = a.slices.at(i);
    t.block = x.block, t.group = x.group, t.slice = x.slice, t.head = x.head;
    t.at = place_of_chunk(a.rows, t.block, C);
    t.heads = t.at.tokens > 0 ? x.heads : 0;
    t.steps = t.heads * steps_of_head(a);
    return t;
  }
  static TK_BOTH int steps_of_head(args const& a) { return Many ? 2 * a.parts : 1; }

  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const steps = steps_of_head(a), head = t.head + step / steps, nth = step % steps,
              col = nth % a.parts * P, end = t.at.row + t.at.tokens;
    load_async(s.dout, window(a.dout, t.at.row, col, head, t.at.batch, end), done);
    load_async(s.v, window(a.v, t.at.row, col, head, t.at.batch, end), done);
    if (Many && nth < a.parts) return;
    load_async(s.state, window(a.states, 0, col, head, t.block), done);
    load_async(s.gradient, window(a.gradients, 0, col, head, t.block), done);
    auto const& tables = a.tables;
    auto const place = tables.decays.row(t.block, head, a.rows.h, C);
    load_async(s.decay, tables.decays.data + place, done);
    load_async(s.weight, tables.weights + place, done);
    int const left = a.columns - col;
    if (tables.skip)
      load_async(s.skip, tables.skip + std::int64_t{head} * a.columns + col, left, done);
  }
  static TK_DEVICE void load_common(common& s, args const& a, task const& t, be::arrival done) {
    int const end = t.at.row + t.at.tokens;
    load_async(s.q, window(a.q, t.at.row, 0, t.group, t.at.batch, end), done);
    load_async(s.k, window(a.k, t.at.row, 0, t.group, t.at.batch, end), done);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto& given = c.common.take();
    if (t.heads > 0) {
      if constexpr (tune.together) {
        if (c.w.id() == workers - 1) keep_products(given);
        c.all.arrive();
        c.all.await();
      }
      if constexpr (First == chunk_gradient::v) {
        make_dv(c, a, t, given);
      } else {
        if (c.w.id() == 0) make_dq(c, a, t, given);
        else if (c.w.id() == 1) make_dk(c, a, t, given);
        else if constexpr (workers > 2) make_dv(c, a, t, given);
      }
    }
    c.w.sync();  // all lanes have read what one gives back
    c.common.release();
  }

 private:
  template <int I> using nth_part = std::integral_constant<int, I>;
  template <class Nth> static constexpr bool is_first = !std::is_same_v<Nth, int>;

  // Takes the slot of a head's first part. There dout v^T, or v dout^T, runs; of many parts it is
  // there.
  template <bool Transposed, class Context>
  static TK_DEVICE stage const& begin_head(Context& c, args const& a, pairs& n) {
    if constexpr (Many) {
      n = 0.f;
      for (int nth = 0; nth < a.parts; ++nth) {
        auto const& x = c.in.take();
        if constexpr (Transposed) mma_abt(n, x.v, x.dout);
        else mma_abt(n, x.dout, x.v);
        wait<0>(n);
        release_loaded(c.w, c.in);
      }
      return c.in.take();
    } else {
      auto const& x = c.in.take();
      if constexpr (Transposed) mm_abt(n, x.v, x.dout);
      else mm_abt(n, x.dout, x.v);
      return x;
    }
  }
  // body(slot, nth) for the parts of a head, whose first slot is taken; that it is the first one is
  // known when this is compiled.
  template <class Context, class Body>
  static TK_DEVICE void for_each_part(Context& c, args const& a, stage const& first, Body body) {
    body(first, nth_part<0>{});
    release_loaded(c.w, c.in);
    if constexpr (Many)
      for (int nth = 1; nth < a.parts; ++nth) {
        body(c.in.take(), nth);
        release_loaded(c.w, c.in);
      }
  }
  // Of keys and the queries that see them: 0 NaN would be NaN.
  static TK_DEVICE void make_products(pairs& x, common const& given) {
    mm_abt(x, given.k, given.q);
    wait<0>(x);
    keep_upper(x, 0, 0.f);
  }
  static TK_DEVICE void keep_products(common& given) {
    pairs x;
    make_products(x, given);
    store(given.products, x);
  }
  static TK_DEVICE void get_products(pairs& x, common const& given) {
    if constexpr (tune.together) tk::load(x, given.products);
    else make_products(x, given);
  }
  // Of tokens of a head.
  static TK_DEVICE std::int64_t place_of(args const& a, task const& t, int head) {
    return (std::int64_t{t.block} * a.rows.h + head) * C;
  }
  // Shares of <S, G>.
  static TK_DEVICE void add_met_states(reg_col<float, R>& sum, stage const& x) {
    TK_UNROLL
    for (int i = 0; i < D / R; ++i) {
      reg_tile<T, R, P> s, g;
      tk::load(s, rows<R>(x.state, i));
      tk::load(g, rows<R>(x.gradient, i));
      sum = sum + row_sum_share(s * g);
    }
  }
  static TK_DEVICE void leave_sum(args const& a, task const& t, be::sink<T, C, D> const& to,
                                  reg_tile<float, C, D> const& x, bool of_q) {
    if (a.slices.count > 1) {
      store(a.slices.sums, a.slices.nth(t.block, t.group, t.slice, of_q), x);
    } else {
      int const end = t.at.row + t.at.tokens;
      store(window(to, t.at.row, 0, t.group, t.at.batch, end), cast<T>(x));
    }
  }

  template <class Context>
  static TK_DEVICE void make_dq(Context& c, args const& a, task const& t, common const& given) {
    reg_tile<float, C, D> dq = 0.f;
    for (int head = t.head; head < t.head + t.heads; ++head) {
      reg_col<float, R> met = 0.f;
      column before = 0.f;
      pairs n;
      auto const& first = begin_head<false>(c, a, n);
      for_each_part(c, a, first, [&](stage const& x, auto nth) {
        add_met_states(met, x);
        column const sum = load_col(x.decay), left = exp2(sum);
        [[maybe_unused]] reg_tile<T, C, C> weights;
        if constexpr (is_first<decltype(nth)>) {
          wait<0>(n);
          n = n * exp2(sum - as_row(x.decay)) * as_row(x.weight);
          keep_lower(n, 0, 0.f);
          weights = cast<T>(n);
          mma_ab(dq, weights, given.k);
        }
        reg_tile<float, C, P> y;
        mm_ab(y, given.q, x.state);
        part dout;
        tk::load(dout, x.dout);
        if constexpr (is_first<decltype(nth)>) wait<0>(dq, weights, y);
        else wait<0>(y);
        before = before + row_sum_share(y * dout) * left;
        dout = cast<T>(dout * left);
        mma_abt(dq, dout, x.state);
        wait<0>(dq, dout);
      });
      store(a.left.states + place_of(a, t, head) / C * R, total(met), R);
      store(a.left.before + place_of(a, t, head), total(before), C);
    }
    leave_sum(a, t, a.dq, dq, true);
  }

  // n of keys and the queries that see them, from v dout^T.
  static TK_DEVICE void weigh_keys(pairs& n, stage const& x, column const& sum,
                                   column const& weight) {
    wait<0>(n);
    n = n * exp2(as_row(x.decay) - sum) * weight;
    keep_upper(n, 0, 0.f);
  }
  // What tokens of a chunk have of one another; the second half follows a meeting of lanes. By
  // whoever has registers for k q^T.
  template <class Context>
  static TK_DEVICE void meet_pairs(Context& c, args const& a, col_shares<C>& shares, pairs& n,
                                   pairs const& products, std::int64_t at) {
    n = n * products;
    col_sum_shares(c.w, shares, n);
    store(a.left.seen + at, total(row_sum_share(n)), C);
  }
  static TK_DEVICE void leave_shares(args const& a, col_shares<C> const& shares, std::int64_t at) {
    for_col_sums(shares, [&](int i, float sum) { a.left.sees[at + i] = sum; });
  }
  template <class Context>
  static TK_DEVICE void make_dk(Context& c, args const& a, task const& t, common const& given) {
    reg_tile<float, C, D> dk = 0.f;
    for (int head = t.head; head < t.head + t.heads; ++head) {
      auto& shares = c.scratch.met[(head - t.head) % 2];
      auto const at = place_of(a, t, head);
      pairs n;
      auto const& first = begin_head<true>(c, a, n);
      for_each_part(c, a, first, [&](stage const& x, auto nth) {
        column const sum = load_col(x.decay), weight = load_col(x.weight);
        [[maybe_unused]] reg_tile<T, C, C> weights;
        if constexpr (is_first<decltype(nth)>) {
          weigh_keys(n, x, sum, weight);
          weights = cast<T>(n);
          if constexpr (tune.together) {
            pairs products;
            get_products(products, given);
            meet_pairs(c, a, shares, n, products, at);
          }
        }
        part v;
        tk::load(v, x.v);
        v = cast<T>(v * column(exp2(x.decay.data[C - 1] - sum) * weight));
        mma_abt(dk, v, x.gradient);
        if constexpr (is_first<decltype(nth)>) {
          mma_ab(dk, weights, given.q);
          wait<0>(dk, v, weights);
        } else {
          wait<0>(dk, v);
        }
      });
      if constexpr (tune.together) leave_shares(a, shares, at);
    }
    leave_sum(a, t, a.dk, dk, false);
  }

  template <class Context>
  static TK_DEVICE void make_dv(Context& c, args const& a, task const& t, common& given) {
    auto const& to = a.left;
    for (int head = t.head; head < t.head + t.heads; ++head) {
      reg_tile<T, C, C> p;
      column after = 0.f, direct = 0.f, skipped = 0.f;
      auto const at = place_of(a, t, head);
      auto& shares = c.scratch.met[(head - t.head) % 2];
      [[maybe_unused]] pairs n;
      if constexpr (Many && tune.together) skip(c, a.parts);
      auto const& first = tune.together ? c.in.take() : begin_head<true>(c, a, n);
      for_each_part(c, a, first, [&](stage const& x, auto nth) {
        column const sum = load_col(x.decay), weight = load_col(x.weight);
        reg_tile<float, C, P> u;
        mm_ab(u, given.k, x.gradient);
        if constexpr (is_first<decltype(nth)>) {
          pairs products;
          get_products(products, given);
          if constexpr (!tune.together) {
            weigh_keys(n, x, sum, weight);
            meet_pairs(c, a, shares, n, products, at);
          }
          products = products * exp2(as_row(x.decay) - sum);
          keep_upper(products, 0, 0.f);
          p = cast<T>(products);
        }
        part v, dout;
        tk::load(v, x.v);
        tk::load(dout, x.dout);
        skipped = skipped + row_sum_share(v * dout);
        wait<0>(u);
        u = u * exp2(x.decay.data[C - 1] - sum);
        after = after + row_sum_share(u * v);
        mma_ab(u, p, x.dout);
        wait<0>(u, p);
        direct = direct + row_sum_share(u * v);
        int const col = nth * P;
        if (a.tables.skip) u = u * weight + dout * as_row(x.skip);
        else u = u * weight;
        int const end = t.at.row + t.at.tokens;
        store_async(c.w, window(a.dv, t.at.row, col, head, t.at.batch, end), cast<T>(u), given.out);
        if (to.skipped_columns) leave_columns(c, a, t, head, col, v, dout);
        if (Many && nth < a.parts - 1) return;
        store(to.after + at, column(total(after) * weight), C);
        store(to.direct + at, total(direct), C);
        if (to.skipped) store(to.skipped + at, total(skipped), C);
      });
      if constexpr (!tune.together) leave_shares(a, shares, at);
    }
  }
  // Of dD of columns: sums over the chunk's tokens.
  template <class Context>
  static TK_DEVICE void leave_columns(Context& c, args const& a, task const& t, int head, int col,
                                      part const& v, part const& dout) {
    auto& s = c.scratch;
    col_sum(c.w, s.columns, v * dout, s.exchange);
    auto const row = (std::int64_t{t.block} * a.rows.h + head) * a.columns;
    store(a.left.skipped_columns + row + col, s.columns, a.columns - col);
    c.w.sync();  // all have read the columns
  }
};

}  // namespace tk
