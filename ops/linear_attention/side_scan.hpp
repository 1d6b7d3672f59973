// SPDX-License-Identifier: MIT
// A scan whose terms have weights (ops/mamba2), by workers who have a unit each of heads that share
// q and k, side by side:
//           S_t = a_t S_(t-1) + k_t^T w_t v_t,   o_t = (q_t S_t + skip o v_t) o silu(gate_t).
// Shapes    as chunk_scan.hpp. A task is a segment of a sequence, or a sequence of one segment.
// Leaves    o, or the sums of segments.
// Workers   states stay in registers, transposed, and are left operands as they are: nothing of
//           them passes through shared memory. Where there are outputs one more worker, a helper,
//           makes q k^T once for all, and of it the weights of each unit, a chunk ahead of them.
// Numerics  as chunk_scan.hpp, with
//             o^T = S^T q^T o exp2(c_i) + v^T (q k^T o exp2(c_i - c_j) w_j o lower)^T.
//           A segment begins with the state that segment_scan.hpp found for it; so its bits are the
//           same however many heads and sequences there are.
#pragma once
#include <type_traits>

#include "core/activation.hpp"
#include "core/product.hpp"
#include "core/vector.hpp"
#include "ops/linear_attention/chunk_scan_sizes.hpp"

namespace tk {

enum class side_leaves { outputs, gated_outputs, sums };

template <class T, int D, class Family, side_leaves Leaves> struct side_scan {
  static constexpr bool gated = Leaves == side_leaves::gated_outputs,
                        outputs = gated || Leaves == side_leaves::outputs;
  using sizes = chunk_scan_sizes<T, D, Family>;
  using args = typename sizes::args;
  static constexpr side_tuning tune = sizes::tune.side;
  static constexpr int units = outputs ? tune.units : tune.summers, helpers = outputs ? 1 : 0,
                       workers = units + helpers, lent = tune.lent, cluster = 1, own_slots = 1,
                       stages = !outputs ? tune.sum_slots
                                : gated  ? tune.gated_slots
                                         : tune.slots,
                       C = sizes::C, P = sizes::P;
  static_assert(sizes::share == 1 && C == P);
  using unit = typename sizes::unit;
  using state = reg_tile<float, P, D>;
  using values = reg_tile<T, P, C>;

  // Of each unit: its weights are there; they have been read, and what took their place.
  enum said { there, read, kinds };
  static constexpr int signals = outputs ? kinds * units : 0;
  static TK_DEVICE int signal_of(int unit, said x) { return unit * kinds + x; }

  template <int> struct nothing_there {};
  template <bool There, class X, int Nth>
  using where = std::conditional_t<There, X, nothing_there<Nth>>;
  struct with_queries {
    shared_tile<T, C, D> q;
  };
  struct with_gates {
    shared_tile<T, C, P> gate[units];
  };
  struct stage : where<outputs, with_queries, 0>, where<gated, with_gates, 1> {
    shared_tile<T, C, D> k;
    shared_tile<T, C, P> v[units];
    shared_vec<float, side_factors::count * C> factors[units];
  };
  struct own {};
  struct with_weights {
    shared_tile<T, C, C> weights[units];  // and then outputs
    shared_vec<float, P> skip[units];
  };
  struct resident : where<outputs, with_weights, 0> {};
  struct scratch {};
  struct task {
    int group, part, steps;
    scan_walk of;
    int q, k;  // heads
    int block;
    struct {
      int head, v, col;
    } of_units[units];
  };

  // Walks of so many chunks; and what is summed.
  static TK_BOTH scan_cut<C, 1> cut(args const& a) {
    return {a.rows, outputs ? a.walks : a.segments, false};
  }
  static TK_BOTH int tasks(args const& a) {
    return cut(a).walks() * a.groups * (outputs ? a.side_parts : a.sum_parts);
  }
  static TK_BOTH unit unit_of(args const& a, int group, int part, int worker) {
    return sizes::unit_of(a, group, part, worker, units);
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    task t{};
    auto const part = outputs ? a.by_side_parts.of(i) : a.by_sum_parts.of(i),
               group = a.by_groups.of(part.quotient);
    t.part = part.rest;
    t.group = group.rest;
    t.of = cut(a).walk(group.quotient);
    t.steps = t.of.chunks;
    if (!outputs) {
      t.block = group.quotient;
      // Nothing begins with its sum.
      int const last = ceil_div(t.of.at.n, C) - 1, walk = a.walks.each;
      if (t.of.first >= last - last % walk) t.steps = 0;
    }
    int const head = t.group * a.sharing;
    t.q = a.shares.by_q.of(head).quotient, t.k = a.shares.by_k.of(head).quotient;
    TK_UNROLL
    for (int i = 0; i < units; ++i) {
      auto const u = unit_of(a, t.group, t.part, i);
      t.of_units[i] = {u.head, a.shares.by_v.of(u.head).quotient, u.col};
    }
    return t;
  }
  static TK_BOTH int tokens(task const& t, int step) {
    return sizes::tokens(t.of.at.n, t.of.first + step);
  }

  struct place {
    scan_rows::place const& at;
    int chunk, row, end;
  };
  static TK_DEVICE place place_of(task const& t, int step) {
    auto const& at = t.of.at;
    int const chunk = t.of.first + step;
    return {at, chunk, at.first + chunk * C, at.first + at.n};
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    auto const [at, chunk, row, end] = place_of(t, step);
    if constexpr (outputs) load_async(s.q, window(a.q, row, 0, t.q, at.batch, end), done);
    load_async(s.k, window(a.k, row, 0, t.k, at.batch, end), done);
    TK_UNROLL
    for (int i = 0; i < units; ++i) {
      auto const u = t.of_units[i];
      auto const nth = std::int64_t{t.of.first_chunk + chunk} * a.rows.h + u.head;
      load_async(s.factors[i], a.side.factors + nth * (side_factors::count * C), done);
      load_async(s.v[i], window(a.v, row, u.col, u.v, at.batch, end), done);
      if constexpr (gated)
        load_async(s.gate[i], window(a.gate, row, u.col, u.head, at.batch, end), done);
    }
  }
  static TK_DEVICE auto const& factor(stage const& s, int unit, int which) {
    return elements<C>(s.factors[unit], which);
  }
  static TK_DEVICE void load_rest(stage& s, args const& a, task const& t, int step,
                                  be::arrival done) {
    auto const [at, chunk, row, end] = place_of(t, step);
    TK_UNROLL
    for (int i = 0; i < units; ++i) {
      auto const u = t.of_units[i];
      load_async(s.v[i], window(a.v, row, u.col, u.v, at.batch, end), done);
      if constexpr (gated)
        load_async(s.gate[i], window(a.gate, row, u.col, u.head, at.batch, end), done);
    }
  }

  template <class Worker>
  static TK_DEVICE void fill_resident(Worker const&, resident&, args const&) {}

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto const u = unit_of(a, t.group, t.part, c.w.id());
    state s = 0.f;
    begin(s, a, t, u);
    if constexpr (outputs) {
      make_outputs(c, s, a, t, u);
      leave(s, a, t, u);
    } else {
      float const kept = sum_up(c, s, t);
      if (t.steps == 0 || !u.mine) return;
      store(states(a), sizes::state_of(a, t.block, u.head, u.nth), s);
      if (u.nth == 0 && c.w.leader()) a.side.kept[std::int64_t{t.block} * a.rows.h + u.head] = kept;
    }
  }
  // The weights of all units.
  template <class Context> static TK_DEVICE void help(Context& c, args const&, task const& t) {
    if constexpr (outputs) {
      if (t.steps == 0) return;
      reg_tile<float, C, C> s;
      begin_scores(c, s);
      for (int step = 0; step + 1 < t.steps; ++step) {
        auto const seen = seen_scores(s);
        begin_scores(c, s);  // the next chunk's run while these are weighed
        weigh(c, seen);
      }
      weigh(c, seen_scores(s));
    }
  }

 private:
  // What counts of a chunk's values at its end.
  static TK_DEVICE values counted_of(values const& v, stage const& x, int w) {
    return cast<T>(v * as_row(factor(x, w, side_factors::counted)));
  }
  static TK_DEVICE float kept_of(stage const& x, int w) {
    return factor(x, w, side_factors::kept).data[C - 1];
  }
  template <class Context>
  static TK_DEVICE void make_outputs(Context& c, state& s, args const& a, task const& t,
                                     unit const& u) {
    int const w = c.w.id();
    auto& weights = c.resident.weights[w];
    fetch_skip(c, a, u);
    reg_tile<T, P, D> left = cast<T>(s);
    for (int step = 0; step < t.steps; ++step) {
      auto const& x = c.in.take();
      reg_tile<float, P, C> o;
      mm_abt(o, left, x.q);
      wait_stores_read(c.w);
      c.signals.send(signal_of(w, read));
      s = s * kept_of(x, w);
      wait<0>(o, left);
      values v;
      load_transposed(v, x.v[w]);
      o = o * as_row(factor(x, w, side_factors::kept));
      c.signals.await(signal_of(w, there));
      mma_abt(o, v, weights);
      values counted = counted_of(v, x, w);
      mma_ab(s, counted, x.k);
      [[maybe_unused]] values z;
      if constexpr (gated) load_transposed(z, x.gate[w]);
      wait<1>(o, v);
      if (a.skip) o = o + v * load_col<P>(c.resident.skip[w].data, P, 0.f);
      if constexpr (gated) o = o * map<silu>(z);
      auto const [at, chunk, row, end] = place_of(t, step);
      c.w.sync();  // all lanes' products have read the weights
      store_async_transposed(c.w, window(a.o, row, u.col, u.head, at.batch, end), o, weights);
      wait<0>(s, counted);
      release_loaded(c.w, c.in);
      left = cast<T>(s);
    }
  }
  template <class Context> static TK_DEVICE float sum_up(Context& c, state& s, task const& t) {
    int const w = c.w.id();
    if (t.steps == 0) return 1;
    float kept = 1;
    for (int step = 0; step < t.steps; ++step) {
      auto const& x = c.in.take();
      values v;
      load_transposed(v, x.v[w]);
      values counted = counted_of(v, x, w);
      float const left = kept_of(x, w);
      s = s * left;
      kept *= left;
      mma_ab(s, counted, x.k);
      wait<0>(s, counted);
      release_loaded(c.w, c.in);
    }
    return kept;
  }
  template <class Context>
  static TK_DEVICE void begin_scores(Context& c, reg_tile<float, C, C>& s) {
    auto const& x = c.in.take();
    mm_abt(s, x.q, x.k);
  }
  static TK_DEVICE reg_tile<float, C, C> seen_scores(reg_tile<float, C, C>& s) {
    wait<0>(s);
    reg_tile<float, C, C> seen = s;
    keep_lower(seen, 0, 0.f);
    return seen;
  }
  template <class Context> static TK_DEVICE void weigh(Context& c, reg_tile<float, C, C> const& s) {
    auto const& x = c.in.peek(0);
    reg_tile<T, C, C> p[units];
    TK_UNROLL
    for (int i = 0; i < units; ++i) {
      auto const& decay = factor(x, i, side_factors::decay);
      auto const sum = load_col<C>(decay.data, C, 0.f);
      p[i] = cast<T>(
          s * (exp2(min(sum - as_row(decay), 0.f)) * as_row(factor(x, i, side_factors::weight))));
    }
    release_loaded(c.w, c.in);
    TK_UNROLL
    for (int i = 0; i < units; ++i) {
      c.signals.await(signal_of(i, read));
      store(c.resident.weights[i], p[i]);
      c.signals.send(signal_of(i, there));
    }
  }

  static TK_DEVICE partial_tiles<P, D> states(args const& a) { return {a.states.data}; }
  // With what the sequence begins with, and what came before.
  static TK_DEVICE void begin(state& s, args const& a, task const& t, unit const& u) {
    if (!outputs) return;
    if (a.initial.data)
      add_scaled(s, a.initial_scale, a.initial, a.initial_width, u.col, 0, u.head, t.of.sequence);
    if (t.of.first == 0) return;
    int const first = a.rows.first_block(t.of.sequence, a.side.each * C),
              count = t.of.first / a.side.each;
    for (int i = first; i < first + count; ++i) {
      s = s * a.side.kept[std::int64_t{i} * a.rows.h + u.head];
      load_add(s, states(a), sizes::state_of(a, i, u.head, u.nth));
    }
  }
  static TK_DEVICE void leave(state& s, args const& a, task const& t, unit const& u) {
    if (!u.mine || !a.final.data || !cut(a).is_last(t.of)) return;
    s = s * a.final_scale;
    store_direct(a.final, u.col, 0, u.head, t.of.sequence, cast<float>(s), a.final_width);
  }
  template <class Context>
  static TK_DEVICE void fetch_skip(Context& c, args const& a, unit const& u) {
    if (!a.skip) return;
    float const* const from = a.skip + std::int64_t{u.head} * a.columns + u.col;
    c.w.sync();  // of the task before, all have read it
    for (int i = c.w.lane(); i < P; i += be::worker_lanes)
      c.resident.skip[c.w.id()].data[i] = u.col + i < a.columns ? from[i] : 0.f;
    c.w.sync();
  }
};

}  // namespace tk
