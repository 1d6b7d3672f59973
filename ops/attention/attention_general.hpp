// SPDX-License-Identifier: MIT
// attention forward with options (attention_options.h): windows, softcap, ALiBi, bias, sinks,
// dropout, packed sequences.
// Shapes    as attention_forward.hpp; of packed sequences q[total_q, hq, d] and so on.
// Numerics  the same, with the same lag of the running max; the scale is applied before the options
//           of scores, log2(e) inside exp2. Weights are summed before dropout.
// Order     a worker walks the keys that its block's rows see upward, in blocks of N from the
//           sequence's first key on: repeatable bit for bit, alone or packed with others.
// Packed    blocks of rows are counted through all sequences; their number has an upper bound that
//           the host knows, and blocks past a sequence's end have nothing to do.
#pragma once
#include "ops/attention/attention_forward.hpp"
#include "ops/attention/terms.hpp"

namespace tk {

template <class T, int D> struct attention_general {
  using plain = attention_forward<T, D, mask_kind::none, true>;
  static constexpr auto tune = plain::tune;
  static constexpr int workers = tune.workers, cluster = 1, stages = tune.slots,
                       own_slots = tune.own_slots, M = tune.M, N = tune.N, group = 8;
  static constexpr int height = workers * M;
  using scores = typename plain::scores;
  using weights = typename plain::weights;
  using column = typename plain::column;
  using stage = typename plain::stage;
  using own = typename plain::own;
  using scratch = typename plain::scratch;
  struct args {
    be::source<T, M, D> q;
    be::source<T, N, D> kv[2];
    be::sink<T, M, D> o;
    float* lse;  // [b, hq, nq], or [hq, total_q], or null
    std::int64_t lse_b_stride, lse_h_stride;
    unsigned* tickets;
    int nq, nk, hq, group_heads, b;
    float prescale;    // 1, or what scores are multiplied by before all else
    float scale_log2;  // positive; what they are multiplied by inside exp2
    device_terms<T> terms;
  };
  struct task {
    int row, head, batch, outer;  // of q's outer index; batch counts packed sequences, too
    int first, blocks, steps;     // blocks of N keys; two steps each
    sequence of;
  };

  static TK_BOTH int blocks(args const& a) {
    return a.terms.packed() ? a.terms.q.blocks(height) : ceil_div(a.nq, height);
  }
  static TK_BOTH int tasks(args const& a) { return blocks(a) * a.hq * a.b; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const count = blocks(a);
    int const heads = a.hq * a.b;
    auto const at = grouped(i, heads, count, heads < group ? heads : group);
    task t{};
    t.head = at.row % a.hq;
    t.batch = t.outer = at.row / a.hq;
    t.of = {0, 0, a.nq, a.nk};
    int block = count - 1 - at.col;  // under a causal mask the longest first
    if (a.terms.packed()) {
      t.batch = a.terms.q.sequence_of(block, height);
      t.of = a.terms.at(t.batch);
      block -= a.terms.q.first_block(t.batch, height);
    }
    bool const is_there = block >= 0 && block < ceil_div(t.of.nq, height);
    t.row = is_there ? block * height : t.of.nq;
    auto const keys = a.terms.seen.keys_seen(t.of, t.row, height);
    t.first = keys.first / N;
    t.blocks = is_there && keys.first < keys.last ? ceil_div(keys.last, N) - t.first : 0;
    t.steps = 2 * t.blocks;
    return t;
  }

  // In the order in which compute takes them: k0 v0 k1 v1 ..., or, ahead, k0 k1 v0 k2 v1 ...
  // v(n-1). Values of another sequence must not be met, not even with a weight of 0.
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    bool value = step % 2 == 1;
    int block = step / 2;
    if constexpr (tune.ahead) {
      value = step + 1 == t.steps || (step > 0 && !value);
      block = (value ? step - 1 : step + 1) / 2;
    }
    int const end = value ? t.of.k_start + t.of.nk : std::numeric_limits<int>::max();
    load_async(s.kv,
               window(a.kv[value], t.of.k_start + (t.first + block) * N, 0, t.head / a.group_heads,
                      t.outer, end),
               done);
  }
  static TK_DEVICE void load_own(own& s, args const& a, task const& t, int worker,
                                 be::arrival done) {
    load_async(s.q, window(a.q, t.of.q_start + t.row + worker * M, 0, t.head, t.outer), done);
  }

  // What a worker knows through a whole task.
  struct constants {
    int row;
    float slope;
    random_plane plane;
  };
  // From products to scores.
  static TK_DEVICE void score(scores& s, args const& a, task const& t, constants const& k,
                              int key) {
    if (a.prescale != 1.f) s = s * a.prescale;
    apply_terms(s, a.terms, t.of, k.slope, k.row, key, t.head, t.batch);
  }
  static TK_DEVICE void drop(weights& p, args const& a, constants const& k, int key) {
    if (a.terms.dropout)
      keep_random(p, k.plane, static_cast<unsigned>(a.terms.dropout), k.row, key);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    constants k{};
    k.row = t.row + c.w.id() * M;
    k.slope = a.terms.slope(t.batch, t.head);
    if (a.terms.dropout) k.plane = a.terms.plane(t.batch, t.head, a.hq);
    auto& q = c.own.take().q;
    reg_tile<float, M, D> o = 0.f;
    column running_max = plain::lowest, running_sum = 0.f;
    if (t.blocks == 0) {
      c.w.sync();  // all lanes have taken what one gives back
      c.own.release();
    } else {
      scores s;
      weights p;
      mm_abt(s, q, c.in.take().kv);
      wait<0>(s);
      c.in.release();
      score(s, a, t, k, t.first * N);
      running_max = max(running_max, row_max(s) * a.scale_log2);
      running_sum = plain::weigh(p, s, running_max, a.scale_log2);
      drop(p, a, k, t.first * N);
      for (int block = t.first + 1; block < t.first + t.blocks; ++block) {
        weights spare;
        weights& next = tune.ahead ? spare : p;
        if constexpr (tune.ahead) {
          auto& keys = c.in.take();
          if constexpr (tune.turns) c.turn.await();
          mm_abt(s, q, keys.kv);
          mma_ab(o, p, c.in.take().kv);
          if constexpr (tune.turns) c.turn.pass();
          wait<1>(s);
          c.in.release();
        } else {
          mma_ab(o, p, c.in.take().kv);
          wait<0>(o, p);
          c.in.release();
          mm_abt(s, q, c.in.take().kv);
          wait<0>(s);
          c.in.release();
        }
        score(s, a, t, k, block * N);
        column share = plain::weigh(next, s, running_max, a.scale_log2);
        if (any_above(share, plain::largest_share)) {
          if constexpr (tune.ahead) wait<0>(o, p);
          auto const rescale = plain::move_max(next, share, s, running_max, a.scale_log2);
          o = o * rescale;
          running_sum = running_sum * rescale;
        }
        drop(next, a, k, block * N);
        c.in.try_wait();
        running_sum = running_sum + share;
        if constexpr (tune.ahead) {
          wait<0>(o, p);
          c.in.release();
          take_over(p, next);
        }
      }
      c.own.release();
      mma_ab(o, p, c.in.take().kv);
      wait<0>(o, p);
      c.in.release();
    }
    finish(a, t, k.row, o, running_max, total(running_sum));
  }

  // To o and lse, with the sink.
  static TK_DEVICE void finish(args const& a, task const& t, int row, reg_tile<float, M, D>& o,
                               column running_max, column sum) {
    if (a.terms.sinks.data) {
      column const sink = a.terms.sink_log2(t.head), top = max(running_max, sink);
      auto const rescale = exp2(running_max - top);
      sum = sum * rescale + exp2(sink - top);
      o = o * rescale;
      running_max = top;
    }
    // 0 where no key is seen.
    o = o * (where_equal(sum, 0.f, 0.f, reciprocal(sum)) * a.terms.kept_inverse());
    int const top = t.of.q_start + row, end = t.of.q_start + t.of.nq;
    if (a.lse)
      store(a.lse + t.outer * a.lse_b_stride + t.head * a.lse_h_stride + top,
            where_equal(sum, 0.f, -inf, (running_max + log2(sum)) * ln_2), end - top);
    store(window(a.o, top, 0, t.head, t.outer, end), cast<T>(o));
  }
};

}  // namespace tk
