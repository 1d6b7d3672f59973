// SPDX-License-Identifier: MIT
// Based: linear attention whose weights are a Taylor polynomial, s = scale q_i.k_j,
//           o_i = sum over j <= i of (1 + s + s^2 / 2) v_j,
// and with the normaliser o_i / (sum over j <= i of (1 + s + s^2 / 2) + 1e-6). (Arora et al., 2024,
// arXiv 2402.18668.)
// Shapes    q, k[b, n, h, 16], v, o[b, n, h, dv]; any n, also 0; any strides, the last dimension
//           contiguous. Packed sequences: [total, h, 16]. A state is a sum of moments of k times v
//           (ops/based/moments.hpp), and for the normaliser of moments alone.
// Numerics  within a chunk the polynomial of q k^T, in fp32, rounded to T; before it moments of q
//           times the state. Moments, and the weighted state where it meets a query, are rounded to
//           T; the normaliser's state is fp32. Sums are fp32.
// Leaves    outputs, or sums of segments; where a chip has readers (tuning.hpp) outputs are those
//           of based_walk.hpp.
// Order     a state is start + since, as in ops/linear_attention/chunk_scan.hpp: segments may be
//           summed before the state that they begin with is known, and give the same bits. P
//           columns of v of a head are a unit, which a worker has; workers have nothing in common.
// Overlap   the state lies transposed, columns of v by columns of moments, which no product pads;
//           moments of q are operands in registers, those of k in shared memory. The polynomial is
//           evaluated while q S runs, o leaves while the state is summed.
#pragma once
#include <type_traits>

#include "backends/kernel.hpp"
#include "core/partial_tiles.hpp"
#include "core/product.hpp"
#include "core/vector.hpp"
#include "ops/based/features.hpp"
#include "ops/based/plan.hpp"
#include "ops/based/tuning.hpp"
#include "ops/linear_attention/scan_walk.hpp"

namespace tk {

// 1 + s + s^2 / 2 of scores without their scale.
struct taylor {
  float scale;
  TK_DEVICE float operator()(float x) const {
    float const s = x * scale;
    return 1 + s * (1 + s * 0.5f);
  }
};

template <class T> struct based_scan_sizes {
  static constexpr auto tune = be::tune_based();
  static constexpr int workers = tune.workers, C = tune.C, P = tune.P, segment = tune.segment,
                       D = based_moments::width, F = based_moments::columns;
  using state_tile = reg_tile<float, P, F>;
  struct args {
    be::source<T, C, D> q, k;
    be::source<T, C, P> v;
    be::sink<T, C, P> o;
    scan_rows rows;
    int units, parts;  // of a head; of all units, one for each worker
    divisor by_units, by_parts, by_heads;
    tensor<float> initial, final;
    moment_sums initial_sums, final_sums;
    float* normalisers;  // [tokens of all batches, h]; may be null
    float scale;
    partial_tiles<P, F> states;  // of segments, heads and units; data may be null
    float* sums;                 // [segments, h, units, F]
    scan_walks walks, segments;  // of tasks that walk, and of those that sum
  };
  static TK_BOTH scan_cut<C, segment> cut(args const& a) { return {a.rows, a.walks, false}; }
  static TK_BOTH bool is_last(args const& a, scan_walk const& x) { return cut(a).is_last(x); }
  // A worker's unit; where there is none, columns behind those of a head.
  struct unit {
    int head, col, nth;
    bool mine;
  };
  static TK_BOTH unit unit_of(args const& a, int part, int worker) {
    int const at = part * workers + worker;
    if (at >= a.rows.h * a.units) return {0, a.units * P, 0, false};
    auto const of = a.by_units.of(at);
    return {of.quotient, of.rest * P, of.rest, true};
  }
  // The state of a segment, counted through all sequences.
  static TK_BOTH std::int64_t state_of(args const& a, int block, int head, int nth) {
    return (std::int64_t{block} * a.rows.h + head) * a.units + nth;
  }
  // The state of a sequence and head, from and to a tensor, by way of shared memory, where it lies
  // as [columns of moments, columns of v]. All lanes of the worker call.
  static TK_DEVICE tensor<float> in_shared(shared_partial<P, F>& via) {
    return {reinterpret_cast<float*>(&via), F, P, P};
  }
  static TK_DEVICE float* number(tensor<float> const& of, int i, int col, int head, int sequence) {
    if (i >= F * P) return nullptr;
    int const row = based_moments::row_of(i / P), c = col + i % P;
    return row >= 0 && c < of.cols ? of.at(row, c, head, sequence) : nullptr;
  }
  // What a sequence begins with.
  static TK_DEVICE void begin(be::worker const& w, state_tile& x, shared_partial<P, F>& via,
                              args const& a, int sequence, int head, int col) {
    x = 0.f;
    if (!a.initial.data) return;
    auto const shared = in_shared(via);
    w.sync();  // of an earlier task, all have read it

    constexpr int at_once = 8;  // of a lane's loads on their way
    TK_ROLL
    for (int first = w.lane(); first < F * P; first += at_once * be::worker_lanes) {
      float x[at_once] = {};
      TK_UNROLL
      for (int k = 0; k < at_once; ++k) {
        int const i = first + k * be::worker_lanes;
        if (auto const* p = number(a.initial, i, col, head, sequence)) x[k] = *p;
      }
      TK_UNROLL
      for (int k = 0; k < at_once; ++k)
        if (int const i = first + k * be::worker_lanes; i < F * P) shared.data[i] = x[k];
    }
    w.sync();  // it is there
    add_scaled_transposed(x, 1.f, tensor<float const>{shared.data, F, P, P}, 0, 0, 0, 0);
    w.sync();  // all have read it
  }
  static TK_DEVICE void end(be::worker const& w, state_tile const& x, shared_partial<P, F>& via,
                            args const& a, int sequence, int head, int col) {
    w.sync();  // all have read what was there
    auto const shared = in_shared(via);
    store_transposed(shared, 0, 0, 0, 0, x);
    w.sync();  // the state is there
    TK_ROLL
    for (int i = w.lane(); i < F * P; i += be::worker_lanes)
      if (float* const p = number(a.final, i, col, head, sequence)) *p = shared.data[i];
    w.sync();  // all have read the state
  }
  static TK_DEVICE float begin_sum(args const& a, int sequence, int head, int column) {
    int const row = based_moments::row_of(column);
    auto const& x = a.initial_sums;
    return x.given && row >= 0 ? x.data[sequence * x.b_stride + head * x.h_stride + row] : 0.f;
  }
};

template <class T, bool Normalises, bool Outputs> struct based_scan {
  using sizes = based_scan_sizes<T>;
  using args = typename sizes::args;
  static constexpr int workers = sizes::workers, cluster = 1, stages = sizes::tune.slots,
                       own_slots = 1, C = sizes::C, P = sizes::P, segment = sizes::segment,
                       D = sizes::D, F = sizes::F;
  // q k^T and q S run together, which takes registers that the normaliser needs.
  static constexpr bool together = !Normalises;
  using moments = reg_tile<T, C, F>;
  using columns_of_x = reg_tile<T, C, D>;
  using column = reg_col<float, C>;

  struct stage {
    shared_tile<T, C, D> q[workers], k[workers];
    shared_tile<T, C, P> v[workers];
  };
  struct own {};
  struct state_memory {
    shared_tile<T, P, F> state;
  };
  // Sums of moments of k: of the chunk, since the segment began, before that; and weighted.
  struct sum_memory {
    shared_vec<float, F> chunk_sums, since_sums, start_sums, weighted_sums;
    col_exchange<F> exchange;
  };
  template <int> struct nothing_there {};
  struct scratch : std::conditional_t<Outputs, state_memory, nothing_there<0>>,
                   std::conditional_t<Normalises, sum_memory, nothing_there<1>> {
    shared_partial<P, F> start;
    shared_tile<T, C, F> features;
  };
  struct task {
    int part, steps;
    scan_walk of;
  };

  static TK_BOTH scan_cut<C, segment> cut(args const& a) {
    if (Outputs) return sizes::cut(a);
    return {a.rows, a.segments, false};
  }
  static TK_BOTH int tasks(args const& a) { return cut(a).walks() * a.parts; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    task t{};
    auto const part = a.by_parts.of(i);
    t.part = part.rest;
    t.of = cut(a).walk(part.quotient);
    t.steps = t.of.chunks;
    // Nothing begins with its sum.
    if (!Outputs && sizes::cut(a).after_last_start(t.of) >= 0) t.steps = 0;
    return t;
  }
  static TK_BOTH bool is_last(args const& a, task const& t) { return sizes::is_last(a, t.of); }

  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const row = t.of.at.first + (t.of.first + step) * C, end = t.of.at.first + t.of.at.n;
    TK_UNROLL
    for (int w = 0; w < workers; ++w) {
      auto const u = sizes::unit_of(a, t.part, w);
      if constexpr (Outputs)
        load_async(s.q[w], window(a.q, row, 0, u.head, t.of.at.batch, end), done);
      load_async(s.k[w], window(a.k, row, 0, u.head, t.of.at.batch, end), done);
      load_async(s.v[w], window(a.v, row, u.col, u.head, t.of.at.batch, end), done);
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const w = c.w.id();
    auto const u = sizes::unit_of(a, t.part, w);
    auto const at = sizes::state_of(a, t.of.segment, u.head, u.nth);
    reg_tile<float, P, F> since = 0.f;
    [[maybe_unused]] bool has_start = t.of.first > 0 || a.initial.data != nullptr;
    if constexpr (Outputs) {
      if (has_start) {
        if (a.states.data) tk::load(since, a.states, at);
        else sizes::begin(c.w, since, c.scratch.start, a, t.of.sequence, u.head, u.col);
        store(c.scratch.start, since);
        since = 0.f;
      }
      put_state(c, a, since, has_start);
    }
    if constexpr (Normalises) begin_sums(c, a, t, u, at);
    for (int step = 0; step < t.steps; ++step) {
      int const chunk = t.of.first + step, left = t.of.at.n - chunk * C,
                tokens = left < C ? left : C;
      auto const& x = c.in.take();
      columns_of_x q;
      moments f;
      {
        columns_of_x k;
        tk::load(k, x.k[w]);
        expand(f, k, column_of_one<T, C>(tokens));
        store(c.scratch.features, f);
        if constexpr (Normalises) col_sum(c.w, c.scratch.chunk_sums, f, c.scratch.exchange);
      }
      if constexpr (Outputs) {
        tk::load(q, x.q[w]);
        expand(f, q, column_of_one<T, C>(C));
      }
      c.w.sync();  // moments of k, and the state, are there
      if constexpr (Outputs) {
        reg_tile<float, C, C> s;
        reg_tile<float, C, P> o;
        [[maybe_unused]] column sum;
        if constexpr (Normalises) sum = row_sum(f * as_row(c.scratch.weighted_sums));
        mm_abt(s, q, x.k[w]);
        if constexpr (together) mm_abt(o, f, c.scratch.state);
        wait<together>(s, q);
        s = map(taylor{a.scale}, s);
        keep_lower(s, 0, 0.f);
        if constexpr (Normalises) sum = sum + row_sum(s);
        reg_tile<T, C, C> p = cast<T>(s);
        if constexpr (!together) mm_abt(o, f, c.scratch.state);
        mma_ab(o, p, x.v[w]);
        mma_atb(since, x.v[w], c.scratch.features);
        wait<1>(o, p, f);
        int const row = t.of.at.first + chunk * C, end = t.of.at.first + t.of.at.n;
        auto const to = window(a.o, row, u.col, u.head, t.of.at.batch, end);
        if constexpr (Normalises) {
          o = o * reciprocal(sum + least_normaliser);
          if (a.normalisers && u.nth == 0 && u.mine) {
            auto const first = (std::int64_t{t.of.at.batch} * a.rows.h + u.head) * a.rows.n + row;
            store(a.normalisers + first, sum, tokens);
          }
        }
        store(to, cast<T>(o));
      } else {
        mma_atb(since, x.v[w], c.scratch.features);
      }
      wait<0>(since);
      c.w.sync();  // all have read the slot, the state and the moments
      c.in.release();
      bool const ends = (chunk + 1) % segment == 0;
      if constexpr (Outputs) {
        if (ends) {
          if (has_start) add(c.scratch.start, since);
          else store(c.scratch.start, since);
          since = 0.f, has_start = true;
        }
        put_state(c, a, since, has_start);
      }
      if constexpr (Normalises) add_sums(c, a, ends);
    }
    if constexpr (Outputs) {
      if (u.mine && is_last(a, t)) end(c, a, t, u, since, has_start);
    } else if (u.mine) {
      // The place of that in which the last walk begins has what the sequence begins with.
      bool const last = sizes::cut(a).after_last_start(t.of) == 0;
      if (!last && t.steps == 0) return;
      if (last) sizes::begin(c.w, since, c.scratch.start, a, t.of.sequence, u.head, u.col);
      store(a.states, at, since);
      if constexpr (Normalises)
        for (int i = c.w.lane(); i < F; i += be::worker_lanes)
          a.sums[at * F + i] =
              last ? sizes::begin_sum(a, t.of.sequence, u.head, i) : c.scratch.since_sums.data[i];
    }
  }

 private:
  // The weighted state, as an operand.
  template <class Context>
  static TK_DEVICE void put_state(Context& c, args const& a, reg_tile<float, P, F> const& since,
                                  bool has_start) {
    reg_tile<T, P, F> state;
    auto const put = [&](auto with_start) {
      TK_UNROLL
      for (int tile = 0; tile < based_moments::tiles; ++tile) {
        auto x = columns<D>(since, tile);
        if constexpr (with_start) {
          reg_tile<float, P, D> start;
          tk::load(start, c.scratch.start, tile);
          x = start + x;
        }
        auto const rounded = weigh_moments<T>(x, tile, a.scale);
        put_columns(state, rounded, tile);
      }
    };
    if (has_start) put(std::true_type{});
    else put(std::false_type{});
    store(c.scratch.state, state);
  }

  template <class Context>
  static TK_DEVICE void begin_sums(Context& c, args const& a, task const& t,
                                   typename sizes::unit const& u, std::int64_t at) {
    for (int i = c.w.lane(); i < F; i += be::worker_lanes) {
      float start = 0;
      if constexpr (Outputs)
        start = a.states.data ? a.sums[at * F + i] : sizes::begin_sum(a, t.of.sequence, u.head, i);
      c.scratch.start_sums.data[i] = start;
      c.scratch.since_sums.data[i] = 0;
      c.scratch.weighted_sums.data[i] = start * based_moments::weight(i, a.scale);
    }
  }
  template <class Context> static TK_DEVICE void add_sums(Context& c, args const& a, bool ends) {
    for (int i = c.w.lane(); i < F; i += be::worker_lanes) {
      float since = c.scratch.since_sums.data[i] + c.scratch.chunk_sums.data[i];
      float& start = c.scratch.start_sums.data[i];
      if (Outputs && ends) start = start + since, since = 0;
      c.scratch.since_sums.data[i] = since;
      c.scratch.weighted_sums.data[i] = (start + since) * based_moments::weight(i, a.scale);
    }
  }

  // Final states.
  template <class Context>
  static TK_DEVICE void end(Context& c, args const& a, task const& t, typename sizes::unit const& u,
                            reg_tile<float, P, F>& since, bool has_start) {
    if (a.final.data) {
      if (has_start) {
        add(c.scratch.start, since);
        tk::load(since, c.scratch.start);
      }
      sizes::end(c.w, since, c.scratch.start, a, t.of.sequence, u.head, u.col);
    }
    if constexpr (Normalises) {
      auto const& y = a.final_sums;
      if (!y.given || u.nth > 0) return;
      for (int i = c.w.lane(); i < F; i += be::worker_lanes)
        if (int const row = based_moments::row_of(i); row >= 0)
          y.data[t.of.sequence * y.b_stride + u.head * y.h_stride + row] =
              c.scratch.start_sums.data[i] + c.scratch.since_sums.data[i];
    }
  }
};

}  // namespace tk
