// SPDX-License-Identifier: MIT
// Based's outputs by workers of two kinds, where a chip has memory for them (tuning.hpp): the first
// one keeps the state of a unit of a head; readers take chunks in turn, expand the moments of their
// keys for the keeper, and make their outputs.
// Shapes    as based_scan.hpp. A task walks a sequence, or a segment of one whose state is known.
// Numerics  and order as based_scan.hpp, whose sums of segments have the same bits, but that what
//           there was when the segment began and what came since meet a query apart, each rounded
//           to T: the first one is there for all chunks of a segment, and only its sum is fp32.
// Overlap   from chunk to chunk there is a sum of products, a weighting and a rounding alone.
#pragma once
#include "ops/based/based_scan.hpp"

namespace tk {

template <class T, bool Normalises> struct based_walk {
  using sizes = based_scan_sizes<T>;
  using args = typename sizes::args;
  static constexpr int readers = sizes::tune.readers, workers = 1 + readers, cluster = 1,
                       own_slots = 1, stages = sizes::tune.reader_slots, C = sizes::C, P = sizes::P,
                       segment = sizes::segment, D = sizes::D, F = sizes::F;
  static_assert(readers >= 2, "signals are awaited before they are sent again");
  static_assert(stages >= readers, "between two of its own a reader passes over fewer");
  // Between a reader and the keeper.
  enum said { expanded, has_read, state_there, summed, kinds };
  static constexpr int signals = kinds * readers;
  static TK_DEVICE int signal_of(int reader, said x) { return kinds * reader + x; }
  using moments = reg_tile<T, C, F>;
  using columns_of_x = reg_tile<T, C, D>;
  using column = reg_col<float, C>;
  using state = reg_tile<float, P, F>;

  struct stage {
    shared_tile<T, C, D> q, k;
    shared_tile<T, C, P> v;
  };
  struct own {};
  // Sums of moments of k: of chunks, since the segment began, before that; and weighted.
  struct sum_memory {
    shared_vec<float, F> of_chunk[readers], since, start, weighted[2];
    col_exchange<F> exchange[readers];
  };
  struct resident : std::conditional_t<Normalises, sum_memory, no_memory> {
    shared_tile<T, P, F> since_state[2], start_state;  // weighted; the first ones in turn
    shared_tile<T, C, F> features[readers];            // of keys; then o
    shared_partial<P, F> start_sum;
  };
  struct scratch {};
  template <class Worker>
  static TK_DEVICE void fill_resident(Worker const&, resident&, args const&) {}
  struct task {
    int head, nth, col, steps;
    scan_walk of;
  };

  static TK_BOTH int tasks(args const& a) { return sizes::cut(a).walks() * a.rows.h * a.units; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    task t{};
    auto const unit = a.by_units.of(i), head = a.by_heads.of(unit.quotient);
    t.nth = unit.rest;
    t.head = head.rest;
    t.col = t.nth * P;
    t.of = sizes::cut(a).walk(head.quotient);
    t.steps = t.of.chunks;
    return t;
  }
  static TK_DEVICE int row_of(task const& t, int step) {
    return t.of.at.first + (t.of.first + step) * C;
  }
  static TK_DEVICE int end_of(task const& t) { return t.of.at.first + t.of.at.n; }

  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const row = row_of(t, step), end = end_of(t), batch = t.of.at.batch;
    load_async(s.k, window(a.k, row, 0, t.head, batch, end), done);
    load_async(s.q, window(a.q, row, 0, t.head, batch, end), done);
    load_async(s.v, window(a.v, row, t.col, t.head, batch, end), done);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    resident& shared = c.resident;
    int const reader = c.w.id() - 1;
    if (reader < 0) {
      keep_state(c, a, t, shared);
    } else {
      for (int step = 0; step < t.steps; ++step) {
        if (step % readers == reader) make_output(c, a, t, step, shared, reader);
        else pass_slot(c);
      }
      c.w.sync();  // lanes that pass over slots meet
    }
  }

 private:
  // Whether anything was there when a step's segment began.
  static TK_DEVICE bool has_start(args const& a, task const& t, int step) {
    return a.initial.data || t.of.first + step >= segment;
  }
  static TK_DEVICE void put_weighted(shared_tile<T, P, F>& to, state const& x, float scale) {
    reg_tile<T, P, F> y;
    TK_UNROLL
    for (int tile = 0; tile < based_moments::tiles; ++tile)
      put_columns(y, weigh_moments<T>(columns<D>(x, tile), tile, scale), tile);
    store(to, y);
  }

  template <class Context>
  static TK_DEVICE void keep_state(Context& c, args const& a, task const& t, resident& shared) {
    state since = 0.f;
    auto const at = sizes::state_of(a, t.of.segment, t.head, t.nth);
    auto const tell = [&](int step, said x) { c.signals.send(signal_of(step % readers, x)); };
    auto const await_reader = [&](int step, said x) {
      c.signals.await(signal_of(step % readers, x));
    };
    bool started = has_start(a, t, 0);
    if (started) {
      if (a.states.data) tk::load(since, a.states, at);
      else sizes::begin(c.w, since, shared.start_sum, a, t.of.sequence, t.head, t.col);
      store(shared.start_sum, since);
      put_weighted(shared.start_state, since, a.scale);
      since = 0.f;
    }
    if constexpr (Normalises) begin_sums(c, a, t, shared, at);
    if (t.steps > 0) put_weighted(shared.since_state[0], since, a.scale);
    for (int step = 0; step < t.steps; ++step) {
      auto const& x = c.in.take();
      await_reader(step, expanded);
      mma_atb(since, x.v, shared.features[step % readers]);
      // What is said here is waited for least, and the products run.
      tell(step, state_there);
      if (step > 0) {
        c.w.sync();  // all lanes are done with the slot that one gives back
        c.in.release();
      }
      wait<0>(since);
      if constexpr (!Normalises) tell(step, summed);
      // Whoever ended a segment has awaited that its state was read.
      if (step > 0 && (t.of.first + step) % segment != 0) await_reader(step - 1, has_read);
      bool const ends = (t.of.first + step + 1) % segment == 0 && step + 1 < t.steps;
      if (ends) await_reader(step, has_read);
      if constexpr (Normalises) {
        add_sums(c, a, shared, step, ends);
        tell(step, summed);
      }
      if (ends) {
        if (started) add(shared.start_sum, since);
        else store(shared.start_sum, since);
        started = true;
        tk::load(since, shared.start_sum);
        put_weighted(shared.start_state, since, a.scale);
        since = 0.f;
      }
      if (step + 1 < t.steps) put_weighted(shared.since_state[(step + 1) % 2], since, a.scale);
    }
    if (t.steps > 0) {
      await_reader(t.steps - 1, has_read);
      release_loaded(c.w, c.in);
    }
    if (sizes::is_last(a, t.of)) end(c, a, t, shared, since, started);
  }
  // Final states.
  template <class Context>
  static TK_DEVICE void end(Context& c, args const& a, task const& t, resident& shared,
                            state& since, bool started) {
    if (a.final.data) {
      if (started) {
        add(shared.start_sum, since);
        tk::load(since, shared.start_sum);
      }
      sizes::end(c.w, since, shared.start_sum, a, t.of.sequence, t.head, t.col);
    }
    if constexpr (Normalises) {
      auto const& y = a.final_sums;
      if (!y.given || t.nth > 0) return;
      for (int i = c.w.lane(); i < F; i += be::worker_lanes)
        if (int const row = based_moments::row_of(i); row >= 0)
          y.data[t.of.sequence * y.b_stride + t.head * y.h_stride + row] =
              shared.start.data[i] + shared.since.data[i];
    }
  }
  template <class Context>
  static TK_DEVICE void begin_sums(Context& c, args const& a, task const& t, resident& shared,
                                   std::int64_t at) {
    for (int i = c.w.lane(); i < F; i += be::worker_lanes) {
      float const start =
          a.states.data ? a.sums[at * F + i] : sizes::begin_sum(a, t.of.sequence, t.head, i);
      shared.start.data[i] = start;
      shared.since.data[i] = 0;
      shared.weighted[0].data[i] = start * based_moments::weight(i, a.scale);
    }
  }
  template <class Context>
  static TK_DEVICE void add_sums(Context& c, args const& a, resident& shared, int step, bool ends) {
    for (int i = c.w.lane(); i < F; i += be::worker_lanes) {
      float since = shared.since.data[i] + shared.of_chunk[step % readers].data[i];
      float& start = shared.start.data[i];
      if (ends) start = start + since, since = 0;
      shared.since.data[i] = since;
      shared.weighted[(step + 1) % 2].data[i] = (start + since) * based_moments::weight(i, a.scale);
    }
  }

  template <class Context>
  static TK_DEVICE void make_output(Context& c, args const& a, task const& t, int step,
                                    resident& shared, int mine) {
    int const left = end_of(t) - row_of(t, step), tokens = left < C ? left : C;
    auto& features = shared.features[mine];
    auto const& x = c.in.take();
    reg_tile<float, C, C> s;
    mm_abt(s, x.q, x.k);
    columns_of_x y;
    moments f;
    tk::load(y, x.k);
    expand(f, y, column_of_one<T, C>(tokens));
    wait_stores_read(c.w);
    store(features, f);
    if constexpr (Normalises) col_sum(c.w, shared.of_chunk[mine], f, shared.exchange[mine]);
    c.signals.send(signal_of(mine, expanded));
    tk::load(y, x.q);
    wait<0>(s);
    s = map(taylor{a.scale}, s);
    keep_lower(s, 0, 0.f);
    [[maybe_unused]] column sum;
    if constexpr (Normalises) sum = row_sum(s);
    reg_tile<T, C, C> p = cast<T>(s);
    reg_tile<float, C, P> o;
    mm_ab(o, p, x.v);
    expand(f, y, column_of_one<T, C>(C));
    c.signals.await(signal_of(mine, state_there));
    mma_abt(o, f, shared.since_state[step % 2]);
    if (has_start(a, t, step)) mma_abt(o, f, shared.start_state);
    if constexpr (Normalises) sum = row_sum(f * as_row(shared.weighted[step % 2])) + sum;
    wait<0>(o, p, f);
    c.signals.send(signal_of(mine, has_read));
    c.w.sync();  // all lanes are done with the slot that one gives back
    c.in.release();
    int const row = row_of(t, step), batch = t.of.at.batch;
    if constexpr (Normalises) {
      o = o * reciprocal(sum + least_normaliser);
      if (a.normalisers && t.nth == 0) {
        auto const first = (std::int64_t{batch} * a.rows.h + t.head) * a.rows.n + row;
        store(a.normalisers + first, sum, tokens);
      }
    }
    c.signals.await(signal_of(mine, summed));
    store_async(c.w, window(a.o, row, t.col, t.head, batch, end_of(t)), cast<T>(o),
                reuse<shared_tile<T, C, P>>(features));
  }
};

}  // namespace tk
