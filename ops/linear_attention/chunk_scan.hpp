// SPDX-License-Identifier: MIT
// The scan of linear attention, chunk by chunk. With decays a_t of each token,
//           S_t = a_t S_(t-1) + k_t^T v_t,   o_t = scale q_t S_t
// or reversed, from the last token on: S_t = k_t^T v_t + a_(t+1) S_(t+1), o_t = scale q_t S_t.
// Heads may share q, k or v. In a family that weighs (ops/mamba2), forward terms have weights,
// k_t^T w_t v_t, and o may get a share of v, and a gate: o_t = (o_t + skip o v_t) o silu(gate_t);
// where chunk_walk.hpp makes outputs and states, sums of segments alone are this one's.
// Shapes    q, k[b, n, h, d], v, o[b, n, h, dv], d at most D; any n, also 0; any strides, d
//           contiguous; states [b, h, d, dv] fp32. Packed sequences: [total, h, d].
// Numerics  c_i is the sum of log2 a in a chunk up to i. Within a chunk
//             o = scale (exp2(c_i) q S + (q k^T o exp2(c_i - c_j) o lower) v),
//             S' = exp2(c_C) S + k^T (exp2(c_C - c_j) o v),
//           all in fp32; weights, weighted values, and the state where it is an operand, rounded to
//           T. A factor multiplies what decayed, never its inverse: nothing overflows.
// Meetings  for the gradients of decays (decay_gradient.hpp) a backward's scan may be given met, of
//           v's shape, o being its gradient. It leaves of each token the dot product of met with
//           what o has of earlier chunks, and, if it is not reversed, with N the terms below the
//           diagonal of (q k^T o exp2(c_i - c_j)) o (met v^T), the sum of N's row less that of its
//           column, both of the same rounded N. The states that chunks meet are kept by the first
//           scan, rounded, and multiplied by those of the reversed one, row by row.
// Order     a state is kept * start + since: the state at the segment's beginning, and the sum of
//           what came after, which begins at 0. So segments may be summed before the state they
//           begin with is known (scan_leaves::sums), and give the same bits. Columns of v are
//           independent, P of a head are a unit. The workers of a block have a unit each, of one
//           head or of heads that share q and k, which are loaded once for all. Some of them are a
//           team: they have one head, and each makes the weights of a part of a chunk's keys.
// Overlap   q k^T runs while what multiplies it, and what the state gets, is made; o leaves while
//           the state is summed. (Chunked form: Hua et al., 2022; Sun et al., RetNet, 2023; Yang et
//           al., GLA, 2024.)
#pragma once
#include <type_traits>

#include "core/activation.hpp"
#include "core/product.hpp"
#include "core/vector.hpp"
#include "ops/linear_attention/chunk_scan_sizes.hpp"

namespace tk {

// What a scan leaves: o; o and the meetings of one that runs in the direction of its name; the
// states that chunks meet; or the sums of segments alone.
enum class scan_leaves { outputs, forward_meetings, reversed_meetings, states, sums };

template <class T, int D, class Family, bool Decays, scan_leaves Leaves> struct chunk_scan {
  static constexpr bool meets_forward = Leaves == scan_leaves::forward_meetings,
                        meets_reversed = Leaves == scan_leaves::reversed_meetings,
                        meets = meets_forward || meets_reversed,
                        outputs = meets || Leaves == scan_leaves::outputs,
                        keeps = Leaves == scan_leaves::states, walks = outputs || keeps;
  static_assert(!meets || Decays);
  using sizes = chunk_scan_sizes<T, D, Family>;
  using args = typename sizes::args;
  static constexpr auto tune = sizes::tune;
  static constexpr int workers = sizes::workers, cluster = 1, own_slots = 1, C = sizes::C,
                       P = sizes::P, segment = sizes::segment, share = sizes::share,
                       teams = sizes::teams;
  static constexpr int K = C / share;  // keys of a worker
  static constexpr int own_stages = !outputs ? tune.sum_slots
                                    : meets  ? tune.met_slots
                                             : 0,
                       stages = own_stages ? own_stages : tune.slots;
  using column = reg_col<float, C>;
  // q S runs beside q k^T, where its worker has the weights alone; else beside p v, apart from it.
  static constexpr bool together = tune.together && !meets, early = together && share == 1,
                        apart = together && share > 1 && Decays;
  static constexpr bool weighs = Family::weighs, gates = weighs && outputs;

  template <int> struct nothing_there {};
  struct with_queries {
    shared_tile<T, C, D> q;
  };
  struct with_gates {
    shared_tile<T, C, P> gate[workers];
  };
  struct with_weights {
    shared_vec<float, C> weight[teams];
  };
  struct with_met {
    shared_tile<T, C, P> met[workers];
  };
  template <bool There, class X, int Nth>
  using where = std::conditional_t<There, X, nothing_there<Nth>>;
  struct stage : where<outputs, with_queries, 0>,
                 where<gates, with_gates, 1>,
                 where<weighs, with_weights, 2>,
                 where<meets, with_met, 3> {
    shared_tile<T, C, D> k;
    shared_tile<T, C, P> v[workers];
    shared_vec<float, C> decay[teams];
  };
  struct own {};
  struct with_state {
    shared_tile<T, D, P> state;
  };
  struct with_weights_of_team {
    shared_tile<T, C, K> p[2];  // of a step and the next
  };
  struct with_skip {
    shared_vec<float, P> skip;
  };
  struct with_meetings {
    shared_vec<float, C> meetings;  // without those of columns
  };
  struct with_columns {
    col_shares<K> columns;
  };
  struct with_states {
    shared_vec<float, D> states;
  };
  struct scratch : where<walks, with_state, 0>,
                   where<(outputs && share > 1), with_weights_of_team, 5>,
                   where<gates, with_skip, 1>,
                   where<meets, with_meetings, 2>,
                   where<meets_forward, with_columns, 3>,
                   where<meets_reversed, with_states, 4> {
    shared_tile<T, C, P> weighted;
  };
  struct task {
    int group, part, steps;
    scan_walk of;
    // Where loads find things: divisions in each step would make a producer the slowest of all.
    int q, k;  // heads
    struct {
      int head, v, col;
    } units[teams];
  };

  static TK_BOTH auto cut(args const& a) { return walks ? sizes::cut(a) : sizes::into_segments(a); }
  static TK_BOTH int tasks(args const& a) { return cut(a).walks() * a.groups * a.parts; }
  // Tasks of one group are neighbours: its parts share q and k, its segments are far apart.
  static TK_BOTH task task_at(args const& a, int i, int) {
    task t{};
    auto const part = a.by_parts.of(i), group = a.by_groups.of(part.quotient);
    t.part = part.rest;
    t.group = group.rest;
    t.of = cut(a).walk(group.quotient);
    t.steps = t.of.chunks;
    // Nothing begins with its sum.
    if (!walks && sizes::cut(a).after_last_start(t.of) >= 0) t.steps = 0;
    int const head = t.group * a.sharing;
    t.q = a.shares.by_q.of(head).quotient, t.k = a.shares.by_k.of(head).quotient;
    TK_UNROLL
    for (int i = 0; i < teams; ++i) {
      auto const u = sizes::unit_of(a, t.group, t.part, i * share);
      t.units[i] = {u.head, a.shares.by_v.of(u.head).quotient, u.col};
    }
    return t;
  }
  static TK_BOTH bool is_last(args const& a, task const& t) { return sizes::is_last(a, t.of); }
  static TK_BOTH int chunk_of(args const& a, task const& t, int step) {
    return t.of.first + (a.reversed ? t.steps - 1 - step : step);
  }

  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const chunk = chunk_of(a, t, step), row = t.of.at.first + chunk * C,
              end = t.of.at.first + t.of.at.n;
    if constexpr (outputs) load_async(s.q, window(a.q, row, 0, t.q, t.of.at.batch, end), done);
    load_async(s.k, window(a.k, row, 0, t.k, t.of.at.batch, end), done);
    TK_UNROLL
    for (int i = 0; i < teams; ++i) {
      auto const u = t.units[i];
      [[maybe_unused]] auto const place =
          a.decays.row(t.of.first_chunk + chunk, u.head, a.rows.h, C);
      if constexpr (Decays) load_async(s.decay[i], a.decays.data + place, done);
      if constexpr (weighs)
        if (!a.reversed) load_async(s.weight[i], a.weights + place, done);
      TK_UNROLL
      for (int k = 0; k < share; ++k) {
        int const w = i * share + k, col = u.col + k * P;
        load_async(s.v[w], window(a.v, row, col, u.v, t.of.at.batch, end), done);
        if constexpr (meets)
          load_async(s.met[w], window(a.met, row, col, u.v, t.of.at.batch, end), done);
        if constexpr (gates)
          if (a.gated)
            load_async(s.gate[w], window(a.gate, row, col, u.head, t.of.at.batch, end), done);
      }
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const w = c.w.id();
    auto const u = sizes::unit_of(a, t.group, t.part, w);
    auto const at = sizes::state_of(a, t.of.segment, u.head, u.nth);
    reg_tile<float, D, P> start = 0.f, since = 0.f;
    float kept = 1;  // of start
    // Of the kept states and meetings of a step's chunk.
    [[maybe_unused]] auto const met_at = [&](int step) {
      return sizes::state_of(a, t.of.first_chunk + chunk_of(a, t, step), u.head, u.nth);
    };
    // The state that a step's chunk meets.
    [[maybe_unused]] auto const put_state = [&](int step) {
      if constexpr (meets_forward) {
        reg_tile<T, D, P> const x = cast<T>(start * kept + since);
        store(c.scratch.state, x);
        if (u.mine && step < t.steps) store(a.kept, met_at(step), x);
      } else if constexpr (outputs) {
        store(c.scratch.state, cast<T>(start * kept + since));
      } else if constexpr (keeps) {
        if (!u.mine || step >= t.steps) return;
        auto const to =
            window(a.chunk_states, 0, u.col, u.head, t.of.first_chunk + chunk_of(a, t, step));
        store_async(c.w, to, cast<T>(start * kept + since), c.scratch.state);
      }
    };
    if constexpr (walks) {
      if (a.states.data) tk::load(start, a.states, at);
      else sizes::begin(start, a, t.of.sequence, u.head, u.col);
      put_state(0);
      if constexpr (gates) fetch_skip(c, a, u);
      if constexpr (outputs && share > 1) meet(c);  // its team has read weights of the task before
    }
    for (int step = 0; step < t.steps; ++step) {
      int const chunk = chunk_of(a, t, step), tokens = sizes::tokens(t.of.at.n, chunk);
      [[maybe_unused]] reg_tile<T, D, P> met_state;
      if constexpr (meets_reversed) tk::load(met_state, a.kept, met_at(step));
      auto const& x = c.in.take();
      [[maybe_unused]] reg_tile<float, C, K> s, pairs;
      if constexpr (outputs) {
        begin_scores(s, x.q, x.k, w % share);
        if constexpr (meets_forward) begin_pairs(pairs, x, w);
      }
      [[maybe_unused]] column sum, before;  // log2 of decays; of what is left of the state
      [[maybe_unused]] float factor = 1;    // of the state, over the chunk
      if constexpr (Decays) {
        auto const& decay = x.decay[w / share];
        float const all = decay.data[tokens - 1];
        factor = be::exp2(all);
        sum = load_col<C>(decay.data, tokens, a.reversed ? -inf : inf);
        before = a.reversed ? column(all - sum) : sum;
        column left = exp2(a.reversed ? sum : column(all - sum));  // of tokens, at the chunk's end
        if constexpr (weighs)
          if (!a.reversed) left = left * load_col<C>(x.weight[w / share].data, tokens, 0.f);
        reg_tile<T, C, P> v;
        tk::load(v, x.v[w]);
        store(c.scratch.weighted, cast<T>(v * left));
      }
      [[maybe_unused]] reg_tile<float, C, P> o, of_values;
      [[maybe_unused]] reg_tile<T, C, K> p;
      if constexpr (share == 1 || !outputs) c.w.sync();  // these, and the state, are there
      if constexpr (outputs) {
        if constexpr (early) mm_ab(o, x.q, c.scratch.state);
        weigh(s, x, a, w, sum);
        p = cast<T>(s);
        [[maybe_unused]] column met = 0.f;
        if constexpr (meets_forward) met = meet_pairs(c, pairs, p, tokens);
        if constexpr (share > 1) {
          store(c.scratch.p[step % 2], p);
          meet(c);  // and so are the team's weights
        }
        if constexpr (!early) mm_ab(o, x.q, c.scratch.state);
        if constexpr (apart) {
          add_values<false>(c, of_values, p, x, step);
        } else {
          if constexpr (Decays) {
            wait<0>(o);
            o = o * exp2(before);
          }
          if constexpr (meets) {
            reg_tile<T, C, P> y;
            tk::load(y, x.met[w]);
            met = met + row_sum_share(o * y);
            store(c.scratch.meetings, total(met));
          }
          add_values<true>(c, o, p, x, step);
        }
      }
      if constexpr (meets_reversed)
        store(c.scratch.states, total(row_sum_share((start * kept + since) * met_state)));
      if constexpr (Decays) {
        since = since * factor;
        kept *= factor;
        wait<share + apart>(since);  // multiplied before its product begins; others go on
        mma_atb(since, x.k, c.scratch.weighted);
      } else {
        mma_atb(since, x.k, x.v[w]);
      }
      if constexpr (outputs) {
        [[maybe_unused]] reg_tile<T, C, P> v;
        if constexpr (gates) tk::load(v, x.v[w]);
        if constexpr (apart) {
          wait<1>(o, of_values, p);
          o = o * exp2(before) + of_values;
        } else {
          wait<1>(o, p);
        }
        if constexpr (Family::scales) o = o * a.scale;
        if constexpr (gates) add_skip_and_gate(c, o, v, x, a);
        int const row = t.of.at.first + chunk * C;
        store(window(a.o, row, u.col, u.head, t.of.at.batch, t.of.at.first + t.of.at.n),
              cast<T>(o));
      }
      wait<0>(since);
      c.w.sync();  // all have read the slot and the state
      c.in.release();
      if constexpr (meets) {
        if (u.mine) leave_meetings(c, a, met_at(step));
      }
      if constexpr (walks) {
        bool const ends = a.reversed ? chunk % segment == 0 : (chunk + 1) % segment == 0;
        if (ends) start = start * kept + since, since = 0.f, kept = 1;
        put_state(step + 1);
      }
    }
    if constexpr (walks) {
      if (!a.final.data || !u.mine || !is_last(a, t)) return;
      start = start * kept + since;
      start = start * a.final_scale;
      if (a.transposed) store_transposed(a.final, u.col, 0, u.head, t.of.sequence, start);
      else
        store_direct(a.final, 0, u.col, u.head, t.of.sequence, cast<float>(start), a.final_width);
    } else if (u.mine) {
      bool const last = sizes::cut(a).after_last_start(t.of) == 0;
      if (last) sizes::begin(since, a, t.of.sequence, u.head, u.col);  // for segment_scan.hpp
      if (last || t.steps > 0) store(a.states, at, since);
    }
  }

 private:
  // What its workers stored is there for all of a block's.
  template <class Context> static TK_DEVICE void meet(Context& c) {
    c.all.arrive();
    c.all.await();
  }
  // s = q k^T for a part of the keys.
  static TK_DEVICE void begin_scores(reg_tile<float, C, K>& s, shared_tile<T, C, D> const& q,
                                     shared_tile<T, C, D> const& k, int part) {
    constexpr int width = shared_tile<T, C, D>::panel_cols;
    TK_UNROLL
    for (int i = 0; i < D / width; ++i) {
      auto const &left = columns<width>(q, i), &right = columns<width>(k, i);
      if (i == 0) mm_abt(s, left, rows<K>(right, part));
      else mma_abt(s, left, rows<K>(right, part));
    }
  }
  // met v^T for the same part, of all columns that the team has.
  static TK_DEVICE void begin_pairs(reg_tile<float, C, K>& pairs, stage const& x, int w) {
    int const part = w % share, first = w - part;
    TK_UNROLL
    for (int i = 0; i < share; ++i) {
      if (i == 0) mm_abt(pairs, x.met[first + i], rows<K>(x.v[first + i], part));
      else mma_abt(pairs, x.met[first + i], rows<K>(x.v[first + i], part));
    }
  }
  // From s to weights; what multiplies it is made while its product runs.
  static TK_DEVICE void weigh(reg_tile<float, C, K>& s, stage const& x, args const& a, int w,
                              column const& sum) {
    int const part = w % share;
    if constexpr (Decays) {
      // Of what is left of a key's token at the query's: c_i - c_j, or c_j - c_i where reversed.
      auto const row = as_row(elements<K>(x.decay[w / share], part));
      reg_tile<float, C, K> factor;
      if (a.reversed) factor = exp2(row - sum);
      else factor = exp2(sum - row);
      if constexpr (weighs)
        if (!a.reversed) factor = factor * as_row(elements<K>(x.weight[w / share], part));
      wait<meets_forward * share + early>(s);
      s = s * factor;
    } else {
      wait<0>(s);
    }
    if (a.reversed) keep_upper(s, part * K, 0.f);
    else keep_lower(s, -part * K, 0.f);
  }
  // y = p v, or y += p v, with the team's weights.
  template <bool Adds, class Context>
  static TK_DEVICE void add_values(Context& c, reg_tile<float, C, P>& y,
                                   reg_tile<T, C, K> const& own, stage const& x, int step) {
    int const w = c.w.id();
    if constexpr (share == 1) {
      mma_ab(y, own, x.v[w]);
    } else {
      TK_UNROLL
      for (int i = 0; i < share; ++i) {
        auto const& p = c.scratches[w - w % share + i].p[step % 2];
        if (Adds || i > 0) mma_ab(y, p, rows<K>(x.v[w], i));
        else mm_ab(y, p, rows<K>(x.v[w], i));
      }
    }
  }
  // A worker's part of what meets in a chunk: sums of rows, and to shared memory those of columns.
  template <class Context>
  static TK_DEVICE column meet_pairs(Context& c, reg_tile<float, C, K>& pairs,
                                     reg_tile<T, C, K> const& p, int tokens) {
    wait<0>(pairs);
    pairs = pairs * p;
    keep_lower(pairs, -1 - c.w.id() % share * K, 0.f);
    if (tokens < C) keep_rows(pairs, tokens, 0.f);
    col_sum_shares(c.w, c.scratch.columns, pairs);
    return row_sum_share(pairs);
  }
  // Those of a chunk, which are there; they are made again after another sync.
  template <class Context>
  static TK_DEVICE void leave_meetings(Context& c, args const& a, std::int64_t at) {
    auto const leave = [&](float* to, auto const& from, int count) {
      for (int i = c.w.lane(); i < count; i += be::worker_lanes) to[i] = from.data[i];
    };
    float* const to = a.meetings + at * C;
    auto const& meetings = c.scratch.meetings;
    if constexpr (meets_forward) {
      int const part = c.w.id() % share, first = part * K;
      if constexpr (share > 1)
        for (int i = c.w.lane(); i < C; i += be::worker_lanes)
          if (i / K != part) to[i] = meetings.data[i];
      for_col_sums(c.scratch.columns,
                   [&](int i, float sum) { to[first + i] = meetings.data[first + i] - sum; });
    } else {
      leave(to, meetings, C);
      leave(a.met_states + at * D, c.scratch.states, D);
    }
  }
  // Read after a sync; of the task before, all have read it.
  template <class Context>
  static TK_DEVICE void fetch_skip(Context& c, args const& a, typename sizes::unit const& u) {
    if (!a.skip) return;
    float const* const from = a.skip + std::int64_t{u.head} * a.columns + u.col;
    for (int i = c.w.lane(); i < P; i += be::worker_lanes)
      c.scratch.skip.data[i] = u.col + i < a.columns ? from[i] : 0.f;
  }
  template <class Context>
  static TK_DEVICE void add_skip_and_gate(Context& c, reg_tile<float, C, P>& o,
                                          reg_tile<T, C, P> const& v, stage const& x,
                                          args const& a) {
    if (a.skip) o = o + v * as_row(c.scratch.skip);
    if (a.gated) {
      reg_tile<T, C, P> z;
      tk::load(z, x.gate[c.w.id()]);
      o = o * map<silu>(z);
    }
  }
};

}  // namespace tk
