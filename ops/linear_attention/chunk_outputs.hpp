// SPDX-License-Identifier: MIT
// The outputs of a scan whose terms have weights (ops/mamba2), by workers of two kinds:
//           S_t = a_t S_(t-1) + k_t^T w_t v_t,   o_t = (q_t S_t + skip o v_t) o silu(gate_t).
// Shapes    as chunk_scan.hpp. A task has a unit of a head, P columns of v, and walks a sequence,
// or
//           a segment of one whose state is known.
// Workers   the first one keeps the state: before each chunk it leaves it, rounded, to the chunk's
//           reader; so what follows from chunk to chunk is a decay, a sum of products and a
//           rounding. Readers take chunks in turn, `readers` of them at a time. A chunk's reader
//           weighs its values for the keeper and makes its outputs.
// Numerics  and order as chunk_scan.hpp, whose sums of segments have the same bits:
//             o = exp2(c_i) q S + (q k^T o exp2(c_i - c_j) w_j o lower) v.
#pragma once
#include <type_traits>

#include "core/activation.hpp"
#include "core/product.hpp"
#include "core/vector.hpp"
#include "ops/linear_attention/chunk_scan_sizes.hpp"

namespace tk {

template <class T, int D, class Family, bool Gated> struct chunk_outputs {
  using sizes = chunk_scan_sizes<T, D, Family>;
  using args = typename sizes::args;
  static constexpr auto tune = sizes::tune;
  static constexpr int readers = tune.readers, workers = 1 + readers, cluster = 1, own_slots = 1,
                       stages = Gated && tune.gated_slots ? tune.gated_slots : tune.slots,
                       C = sizes::C, P = sizes::P, segment = sizes::segment;
  static_assert(readers >= 2, "signals are awaited before they are sent again");
  static_assert(stages >= readers, "between two of its own a reader passes over fewer");
  // Where the keeper needs more registers than there are for all, readers lend theirs.
  static constexpr int helpers = tune.lends ? readers : 0;
  // Between a reader and the keeper.
  enum said { weighted, has_read, state_there, summed, kinds };
  static constexpr int signals = kinds * readers;
  static TK_DEVICE int signal_of(int reader, said x) { return kinds * reader + x; }
  using state = reg_tile<float, D, P>;
  using values = reg_tile<float, C, P>;
  using column = reg_col<float, C>;

  struct with_gate {
    shared_tile<T, C, P> gate;
  };
  struct stage : std::conditional_t<Gated, with_gate, no_memory> {
    shared_tile<T, C, D> q, k;
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
    int sequence, head, nth, col, block;  // block: the segment, where each is a task
    int first, steps;                     // chunks
    scan_rows::place at;
    int first_chunk, q, k, v;  // counted through all sequences; heads
  };

  static TK_BOTH int tasks(args const& a) {
    int const sequences = a.states.data ? a.rows.blocks(segment * C) : a.rows.b;
    return sequences * a.rows.h * a.units;
  }
  // Neighbours share q and k.
  static TK_BOTH task task_at(args const& a, int i, int) {
    task t{};
    t.nth = i % a.units;
    t.head = i / a.units % a.rows.h;
    t.block = i / (a.units * a.rows.h);
    t.col = t.nth * P;
    t.sequence = a.states.data ? a.rows.sequence_of(t.block, segment * C) : t.block;
    t.at = a.rows.sequence(t.sequence);
    t.steps = ceil_div(t.at.n, C);
    if (a.states.data) {
      t.first = (t.block - a.rows.first_block(t.sequence, segment * C)) * segment;
      int const left = t.first < 0 ? 0 : t.steps - t.first;
      t.steps = left < 0 ? 0 : left < segment ? left : segment;
    }
    t.first_chunk = a.rows.first_block(t.sequence, C) + t.first;
    t.q = t.head / a.shares.q, t.k = t.head / a.shares.k, t.v = t.head / a.shares.v;
    return t;
  }
  // Whether a task ends where its sequence does. Packed sequences leave room for blocks that none
  // has.
  static TK_BOTH bool is_last(args const& a, task const& t) {
    if (!a.states.data) return true;
    int const chunks = ceil_div(t.at.n, C);
    return t.first >= 0 && (t.first == 0 || t.first < chunks) && t.first + segment >= chunks;
  }
  static TK_DEVICE int row_of(task const& t, int step) { return t.at.first + (t.first + step) * C; }

  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const row = row_of(t, step), end = t.at.first + t.at.n;
    load_async(s.k, window(a.k, row, 0, t.k, t.at.batch, end), done);
    load_async(s.v, window(a.v, row, t.col, t.v, t.at.batch, end), done);
    auto const place = a.decays.row(t.first_chunk + step, t.head, a.rows.h, C);
    load_async(s.decay, a.decays.data + place, C, done);
    load_async(s.weight, a.weights + place, C, done);
    load_async(s.q, window(a.q, row, 0, t.q, t.at.batch, end), done);
    if constexpr (Gated)
      load_async(s.gate, window(a.gate, row, t.col, t.head, t.at.batch, end), done);
  }
  static TK_DEVICE void load_common(common& s, args const& a, task const& t, be::arrival done) {
    if (!a.skip) return;
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
      if (step % readers == mine) make_output(c, a, t, step, shared, mine);
      else pass_slot(c);
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
    if (a.states.data) tk::load(s.start, a.states, sizes::state_of(a, t.block, t.head, t.nth));
    else sizes::begin(s.start, a, t.sequence, t.head, t.col);
  }
  static TK_DEVICE int tokens(task const& t, int step) {
    return sizes::tokens(t.at.n, t.first + step);
  }
  static TK_DEVICE void leave(parts_of_state& s, args const& a, task const& t) {
    if (!a.final.data || !is_last(a, t)) return;
    s.start = s.sum();
    s.start = s.start * a.final_scale;
    if (a.transposed) store_transposed(a.final, t.col, 0, t.head, t.sequence, s.start);
    else store_direct(a.final, 0, t.col, t.head, t.sequence, cast<float>(s.start), a.final_width);
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
    auto const put_state = [&](int step) { tk::store(shared.state[step % 2], cast<T>(s.sum())); };
    if (t.steps > 0) put_state(0);
    for (int step = 0; step < t.steps; ++step) {
      auto const& x = c.in.take();
      float const factor = be::exp2(x.decay.data[tokens(t, step) - 1]);
      await_reader(step, weighted);
      s.since = s.since * factor;
      s.kept *= factor;
      mma_atb(s.since, x.k, shared.values[step % readers]);
      tell(step, state_there);
      if (step > 0) {
        tell(step - 1, summed);
        c.w.sync();  // all lanes have read of the slot what they have used
        c.in.release();
      }
      wait<0>(s.since);
      if ((t.first + step + 1) % segment == 0) s.start = s.sum(), s.since = 0.f, s.kept = 1;
      if (step > 0) await_reader(step - 1, has_read);
      if (step + 1 < t.steps) put_state(step + 1);
    }
    if (t.steps > 0) {
      tell(t.steps - 1, summed);
      await_reader(t.steps - 1, has_read);
      release_loaded(c.w, c.in);
    }
    leave(s, a, t);
    c.w.sync();
    c.common.release();
  }

  template <class Context>
  static TK_DEVICE void make_output(Context& c, args const& a, task const& t, int step,
                                    common& shared, int mine) {
    int const n = tokens(t, step);
    auto& on_its_way = shared.values[mine];
    auto const& x = c.in.take();
    reg_tile<float, C, C> s;
    mm_abt(s, x.q, x.k);
    reg_tile<T, C, P> v;
    tk::load(v, x.v);
    wait_stores_read(c.w);
    tk::store(on_its_way, cast<T>(v * sizes::left_of_tokens(x.decay, x.weight, n)));
    c.signals.send(signal_of(mine, weighted));
    column const sum = load_col<C>(x.decay.data, n, inf);
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
    tk::load(v, x.v);
    [[maybe_unused]] reg_tile<T, C, P> z;
    if constexpr (Gated) tk::load(z, x.gate);
    wait<0>(o, p);
    release_loaded(c.w, c.in);
    if (a.skip) o = o + v * as_row(shared.skip);
    if constexpr (Gated) o = o * map<silu>(z);
    c.signals.await(signal_of(mine, summed));
    int const row = row_of(t, step);
    store_async(c.w, window(a.o, row, t.col, t.head, t.at.batch, t.at.first + t.at.n), cast<T>(o),
                on_its_way);
  }
};

}  // namespace tk
