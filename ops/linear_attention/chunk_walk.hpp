// SPDX-License-Identifier: MIT
// A scan whose terms have weights (ops/mamba2) by workers of two kinds:
//           S_t = a_t S_(t-1) + k_t^T w_t v_t,   o_t = (q_t S_t + skip o v_t) o silu(gate_t).
// Shapes    as chunk_scan.hpp. A task has a unit of a head, P columns of v, and walks a sequence,
//           or a segment of one whose state is known.
// Leaves    o; or the states that chunks meet, also of a scan from the last token on.
// Workers   the first one keeps the state: before each chunk it leaves it, rounded, to the chunk's
//           reader; so what follows from chunk to chunk is a decay, a sum of products and a
//           rounding. Readers take chunks in turn, `readers` of them at a time. A chunk's reader
//           weighs its values for the keeper and makes its outputs. (Two heads side by side whose
//           workers each do all took 1.2 to 1.9 of the time.)
// Numerics  and order as chunk_scan.hpp, whose sums of segments have the same bits:
//             o = exp2(c_i) q S + (q k^T o exp2(c_i - c_j) w_j o lower) v.
#pragma once
#include <type_traits>

#include "core/activation.hpp"
#include "core/product.hpp"
#include "core/vector.hpp"
#include "ops/linear_attention/chunk_scan_sizes.hpp"

namespace tk {

enum class walk_leaves { outputs, gated_outputs, states };

template <class T, int D, class Family, walk_leaves Leaves> struct chunk_walk {
  static constexpr bool gated = Leaves == walk_leaves::gated_outputs,
                        outputs = gated || Leaves == walk_leaves::outputs;
  using sizes = chunk_scan_sizes<T, D, Family>;
  using args = typename sizes::args;
  static constexpr auto tune = sizes::tune;
  static constexpr int readers = outputs ? tune.readers : 2, workers = 1 + readers, cluster = 1,
                       own_slots = 1,
                       own_stages = !outputs ? tune.sum_slots
                                    : gated  ? tune.gated_slots
                                             : 0,
                       stages = own_stages ? own_stages : tune.slots, C = sizes::C, P = sizes::P,
                       segment = sizes::segment;
  static_assert(readers >= 2, "signals are awaited before they are sent again");
  static_assert(stages >= readers, "between two of its own a reader passes over fewer");
  // Where the keeper needs more registers than there are for all, readers lend theirs.
  static constexpr int helpers = !outputs || tune.lends ? readers : 0;
  // Between a reader and the keeper.
  enum said { weighted, has_read, state_there, summed, kinds };
  static constexpr int signals = kinds * readers;
  static TK_DEVICE int signal_of(int reader, said x) { return kinds * reader + x; }
  using state = reg_tile<float, D, P>;
  using values = reg_tile<float, C, P>;
  using column = reg_col<float, C>;

  template <int> struct nothing_there {};
  template <bool There, class X, int Nth>
  using where = std::conditional_t<There, X, nothing_there<Nth>>;
  struct with_queries {
    shared_tile<T, C, D> q;
  };
  struct with_gate {
    shared_tile<T, C, P> gate;
  };
  struct stage : where<outputs, with_queries, 0>, where<gated, with_gate, 1> {
    shared_tile<T, C, D> k;
    shared_tile<T, C, P> v;
    shared_vec<float, C> decay, weight;
  };
  struct own {};
  struct common {
    shared_tile<T, D, P> state[2];         // that chunks meet, in turn
    shared_tile<T, C, P> values[readers];  // v, as it counts at a chunk's end; then o
    shared_vec<float, P> skip;
  };
  struct scratch {};
  struct task {
    int head, nth, col, steps;
    scan_walk of;
    int q, k, v;  // heads
  };

  static TK_BOTH int tasks(args const& a) { return sizes::cut(a).walks() * a.rows.h * a.units; }
  // Neighbours share q and k.
  static TK_BOTH task task_at(args const& a, int i, int) {
    task t{};
    auto const unit = a.by_units.of(i), head = a.by_heads.of(unit.quotient);
    t.nth = unit.rest;
    t.head = head.rest;
    t.col = t.nth * P;
    t.of = sizes::cut(a).walk(head.quotient);
    t.steps = t.of.chunks;
    t.q = a.shares.by_q.of(t.head).quotient, t.k = a.shares.by_k.of(t.head).quotient;
    t.v = a.shares.by_v.of(t.head).quotient;
    return t;
  }
  static TK_BOTH bool reversed(args const& a) { return !outputs && a.reversed; }
  // Of a step, counted from the sequence's first one.
  static TK_BOTH int chunk_of(args const& a, task const& t, int step) {
    return t.of.first + (reversed(a) ? t.steps - 1 - step : step);
  }
  static TK_BOTH int tokens(args const& a, task const& t, int step) {
    return sizes::tokens(t.of.at.n, chunk_of(a, t, step));
  }

  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    auto const& at = t.of.at;
    int const chunk = chunk_of(a, t, step), row = at.first + chunk * C, end = at.first + at.n;
    load_async(s.k, window(a.k, row, 0, t.k, at.batch, end), done);
    load_async(s.v, window(a.v, row, t.col, t.v, at.batch, end), done);
    auto const place = a.decays.row(t.of.first_chunk + chunk, t.head, a.rows.h, C);
    load_async(s.decay, a.decays.data + place, done);
    if (!reversed(a)) load_async(s.weight, a.weights + place, done);
    if constexpr (outputs) load_async(s.q, window(a.q, row, 0, t.q, at.batch, end), done);
    if constexpr (gated)
      load_async(s.gate, window(a.gate, row, t.col, t.head, at.batch, end), done);
  }
  static TK_DEVICE void load_common(common& s, args const& a, task const& t, be::arrival done) {
    if (!outputs || !a.skip) return;
    int const left = a.columns - t.col;
    load_async(s.skip, a.skip + std::int64_t{t.head} * a.columns + t.col, left, done);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (helpers == 0 && c.w.id() > 0) help(c, a, t);
    else keep_state(c, a, t);
  }
  template <class Context> static TK_DEVICE void help(Context& c, args const& a, task const& t) {
    common& shared = c.common.take();
    int const mine = c.w.id() - 1;
    for (int step = 0; step < t.steps; ++step) {
      if (step % readers != mine) {
        pass_slot(c);
      } else if constexpr (outputs) {
        make_output(c, a, t, step, shared, mine);
      } else {
        auto const& x = c.in.take();
        weigh_values(c, a, t, step, x, shared, mine);
        release_loaded(c.w, c.in);
        c.signals.await(signal_of(mine, summed));
      }
    }
    c.w.sync();  // all lanes have read what one gives back
    c.common.release();
  }

 private:
  // A unit's state is kept * start + since.
  struct parts_of_state {
    state start = 0.f, since = 0.f;
    float kept = 1;
    TK_DEVICE auto sum() const { return start * kept + since; }
  };
  static TK_DEVICE void begin(parts_of_state& s, args const& a, task const& t) {
    if (a.states.data) tk::load(s.start, a.states, sizes::state_of(a, t.of.segment, t.head, t.nth));
    else sizes::begin(s.start, a, t.of.sequence, t.head, t.col);
  }
  static TK_DEVICE void leave(parts_of_state& s, args const& a, task const& t) {
    if (!a.final.data || !sizes::is_last(a, t.of)) return;
    int const sequence = t.of.sequence;
    s.start = s.sum();
    s.start = s.start * a.final_scale;
    if (a.transposed) store_transposed(a.final, t.col, 0, t.head, sequence, s.start);
    else store_direct(a.final, 0, t.col, t.head, sequence, cast<float>(s.start), a.final_width);
  }

  template <class Context>
  static TK_DEVICE void keep_state(Context& c, args const& a, task const& t) {
    common& shared = c.common.take();
    parts_of_state s;
    begin(s, a, t);
    auto const tell = [&](int step, said x) { c.signals.send(signal_of(step % readers, x)); };
    auto const await_reader = [&](int step, said x) {
      c.signals.await(signal_of(step % readers, x));
    };
    auto const put_state = [&](int step) {
      if constexpr (outputs) {
        store(shared.state[step % 2], cast<T>(s.sum()));
      } else {
        int const chunk = t.of.first_chunk + chunk_of(a, t, step);
        store_async(c.w, window(a.chunk_states, 0, t.col, t.head, chunk), cast<T>(s.sum()),
                    shared.state, step);
      }
    };
    if constexpr (!outputs) wait_stores_read(c.w);  // the last task's
    if (t.steps > 0) put_state(0);
    for (int step = 0; step < t.steps; ++step) {
      auto const& x = c.in.take();
      float const factor = be::exp2(x.decay.data[tokens(a, t, step) - 1]);
      await_reader(step, weighted);
      s.since = s.since * factor;
      s.kept *= factor;
      mma_atb(s.since, x.k, shared.values[step % readers]);
      // What is said here is waited for least, and the products run.
      if constexpr (outputs) tell(step, state_there);
      if (step > 0) {
        if constexpr (outputs) tell(step - 1, summed);
        c.w.sync();  // all lanes have read of the slot what they have used
        c.in.release();
      }
      wait<0>(s.since);
      if constexpr (!outputs) tell(step, summed);
      int const next = chunk_of(a, t, step) + !reversed(a);
      if (next % segment == 0) s.start = s.sum(), s.since = 0.f, s.kept = 1;
      if constexpr (outputs)
        if (step > 0) await_reader(step - 1, has_read);
      if (step + 1 < t.steps) put_state(step + 1);
    }
    if (t.steps > 0) {
      if constexpr (outputs) {
        tell(t.steps - 1, summed);
        await_reader(t.steps - 1, has_read);
      }
      release_loaded(c.w, c.in);
    }
    leave(s, a, t);
    c.w.sync();
    c.common.release();
  }

  template <class Context>
  static TK_DEVICE void weigh_values(Context& c, args const& a, task const& t, int step,
                                     stage const& x, common& shared, int mine) {
    reg_tile<T, C, P> v;
    tk::load(v, x.v);
    auto const left = sizes::left_of_tokens(x.decay, x.weight, tokens(a, t, step), reversed(a));
    if constexpr (outputs) wait_stores_read(c.w);
    store(shared.values[mine], cast<T>(v * left));
    c.signals.send(signal_of(mine, weighted));
  }
  template <class Context>
  static TK_DEVICE void make_output(Context& c, args const& a, task const& t, int step,
                                    common& shared, int mine) {
    auto const& x = c.in.take();
    reg_tile<float, C, C> s;
    mm_abt(s, x.q, x.k);
    weigh_values(c, a, t, step, x, shared, mine);
    column const sum = load_col<C>(x.decay.data, tokens(a, t, step), inf);
    wait<0>(s);
    s = s * exp2(sum - as_row(x.decay)) * as_row(x.weight);
    keep_lower(s, 0, 0.f);
    reg_tile<T, C, C> p = cast<T>(s);
    c.signals.await(signal_of(mine, state_there));
    values o;
    mm_ab(o, x.q, shared.state[step % 2]);
    wait<0>(o);
    c.signals.send(signal_of(mine, has_read));
    o = o * exp2(sum);
    mma_ab(o, p, x.v);
    reg_tile<T, C, P> v;
    tk::load(v, x.v);
    [[maybe_unused]] reg_tile<T, C, P> z;
    if constexpr (gated) tk::load(z, x.gate);
    wait<0>(o, p);
    release_loaded(c.w, c.in);
    if (a.skip) o = o + v * as_row(shared.skip);
    if constexpr (gated) o = o * map<silu>(z);
    c.signals.await(signal_of(mine, summed));
    auto const& at = t.of.at;
    auto const to =
        window(a.o, at.first + chunk_of(a, t, step) * C, t.col, t.head, at.batch, at.first + at.n);
    store_async(c.w, to, cast<T>(o), shared.values[mine]);
  }
};

}  // namespace tk
