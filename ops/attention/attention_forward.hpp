// SPDX-License-Identifier: MIT
// attention forward: o = softmax(scale * q k^T + mask) v, and lse (natural log) for the backward.
// With options (attention_options.h) as far as Options goes; what they are is said there.
// Shapes    q[b, nq, hq, d], k[b, nk, hk, d], v[b, nk, hk, dv], o[b, nq, hq, dv],
//           lse[b, hq, nq]; hq % hk == 0; d and dv at most D; any nq, nk, also 0; any strides,
//           d contiguous; of packed sequences q[total_q, hq, d] and so on.
// Numerics  scores, running max and sum in fp32, p rounded to T. A row that sees no key gives o = 0
//           and lse = -inf. The running max lags: weights are exp2(score - running_max), which may
//           exceed 1, and it moves only for rows whose sum grows by more than `largest_share` in a
//           step. Relative errors, and so o, are the same wherever it stands.
//           With options the scale is applied before what changes scores, log2(e) inside exp2,
//           and weights are summed before dropout.
// Order     a worker walks its keys upward, in blocks that begin at the (sequence's) first key, up
//           to the last one that its own rows see; whether a row's maximum moves depends on that
//           row alone: repeatable bit for bit, alone or packed with others.
// Packed    blocks of rows are counted through all sequences; their number has an upper bound that
//           the host knows, and blocks past a sequence's end have nothing to do.
// Overlap   ahead: the next scores and this step's o run while the worker does the softmax; turns:
//           workers issue their products in turn. Blocks that no row's mask cuts have a loop of
//           their own. (Online softmax: Milakov and Gimelshein, 2018; FlashAttention: Dao et al.,
//           2022; the overlap: FlashAttention-3, Shah et al., 2024.)
#pragma once
#include <limits>

#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/product.hpp"
#include "core/reduce.hpp"
#include "core/schedule.hpp"
#include "ops/attention/terms.hpp"
#include "ops/attention/tuning.hpp"

namespace tk {

// The sequence of a task, and its number: of a batch, or of packed sequences.
struct place_of_rows {
  sequence of;
  int batch;
};

template <class T, int D, mask_kind Mask, option_set Options = option_set::none>
struct attention_forward {
  static constexpr bool placed = Options != option_set::none, general = Options == option_set::all;
  static constexpr auto tune = general  ? be::tune_attention_general(D)
                               : placed ? be::tune_attention_seen(D)
                                        : be::tune_attention_forward(D);
  static constexpr int workers = tune.workers, cluster = 1, stages = tune.slots,
                       own_slots = tune.own_slots, M = tune.M, N = tune.N, group = 8;
  static constexpr int height = workers * M;
  static constexpr bool causal = Mask == mask_kind::causal;
  static constexpr float lowest = std::numeric_limits<float>::lowest();  // running_max of no scores
  static constexpr float largest_share = 256;                            // far below fp16's 65504
  using scores = reg_tile<float, M, N>;
  using weights = reg_tile<T, M, N>;
  using column = reg_col<float, M>;

  struct stage {
    shared_tile<T, N, D> kv;  // keys or values
  };
  struct own {
    shared_tile<T, M, D> q;
  };
  struct scratch {};
  struct args {
    be::source<T, M, D> q;
    be::source<T, N, D> kv[2];
    be::sink<T, M, D> o;
    float* lse;  // [b, hq, nq], or null
    std::int64_t lse_b_stride, lse_h_stride;
    unsigned* tickets;  // null where tasks are dealt in rounds
    int nq, nk, hq, group_heads, b;
    float prescale;    // 1, or what scores are multiplied by before the maximum is taken
    float scale_log2;  // positive; what they are multiplied by inside exp2
    std::conditional_t<placed, device_terms<T>, no_terms> terms;
  };
  struct task {
    int row, head, batch;      // batch: of q's outer index
    int first, blocks, steps;  // blocks of N keys; two steps each
    std::conditional_t<placed, place_of_rows, no_place> at;
  };

  static TK_BOTH int tiles(args const& a) {
    if constexpr (placed)
      if (a.terms.packed()) return a.terms.q.blocks(height);
    return ceil_div(a.nq, height);
  }
  static TK_BOTH int tasks(args const& a) { return tiles(a) * a.hq * a.b; }
  // Causal: the longest tasks first.
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const count = tiles(a), heads = a.hq * a.b, together = causal || placed ? group : 1;
    auto const at = grouped(i, heads, count, heads < together ? heads : together);
    int tile = causal || placed ? count - 1 - at.col : at.col;
    task t{};
    t.head = at.row % a.hq;
    t.batch = at.row / a.hq;
    if constexpr (placed) {
      t.at = {{0, 0, a.nq, a.nk}, t.batch};
      if (a.terms.packed()) {
        t.at.batch = a.terms.q.sequence_of(tile, height);
        t.at.of = a.terms.at(t.at.batch);
        tile -= a.terms.q.first_block(t.at.batch, height);
      }
      auto const& of = t.at.of;
      bool const is_there = tile >= 0 && tile < ceil_div(of.nq, height);
      t.row = is_there ? tile * height : of.nq;
      auto const keys = blocks_of(a.terms.seen.keys_seen(of, t.row, height), N);
      t.first = keys.first;
      t.blocks = is_there ? keys.last - keys.first : 0;
    } else {
      t.row = tile * height;
      int const seen = causal ? t.row + height + a.nk - a.nq : a.nk;
      int const keys = seen < 1 ? 1 : seen < a.nk ? seen : a.nk;
      t.blocks = keys < 1 ? 1 : ceil_div(keys, N);
    }
    t.steps = 2 * t.blocks;
    return t;
  }

  // In the order in which compute takes them: k0 v0 k1 v1 ..., or, ahead, k0 k1 v0 k2 v1 ...
  // v(n-1). Values of another packed sequence must not be met, not even with a weight of 0.
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    bool value = step % 2 == 1;
    int block = step / 2;
    if constexpr (tune.ahead) {
      value = step + 1 == t.steps || (step > 0 && !value);
      block = (value ? step - 1 : step + 1) / 2;
    }
    int const head = t.head / a.group_heads;
    if constexpr (placed) {
      auto const& of = t.at.of;
      int const end = value ? of.k_start + of.nk : std::numeric_limits<int>::max();
      load_async(s.kv,
                 window(a.kv[value], of.k_start + (t.first + block) * N, 0, head, t.batch, end),
                 done);
    } else {
      load_async(s.kv, window(a.kv[value], block * N, 0, head, t.batch), done);
    }
  }
  // Of a task, in q.
  static TK_DEVICE int first_row(task const& t) {
    if constexpr (placed) return t.at.of.q_start + t.row;
    else return t.row;
  }
  static TK_DEVICE void load_own(own& s, args const& a, task const& t, int worker,
                                 be::arrival done) {
    load_async(s.q, window(a.q, first_row(t) + worker * M, 0, t.head, t.batch), done);
  }

  // What a worker knows through a whole task, of a row's terms.
  struct row_terms {
    float slope;
    random_plane plane;
  };
  // From products to scores.
  static TK_DEVICE void score(scores& s, args const& a, task const& t,
                              [[maybe_unused]] row_terms const& k, int row, int key) {
    if (a.prescale != 1.f) s = s * a.prescale;
    if constexpr (general) {
      apply_terms(s, a.terms, t.at.of, k.slope, row, key, t.head, t.at.batch);
    } else if constexpr (placed) {
      keep_seen(s, a.terms.seen, t.at.of, row, key, -inf);
    } else {
      if (key + N > a.nk) keep_cols(s, a.nk - key, -inf);
      if (int const diagonal = row + a.nk - a.nq - key; causal && diagonal < N - 1)
        keep_lower(s, diagonal, -inf);
    }
  }
  static TK_DEVICE void drop([[maybe_unused]] weights& p, [[maybe_unused]] args const& a,
                             [[maybe_unused]] row_terms const& k, int row, int key) {
    if constexpr (general)
      if (a.terms.dropout)
        keep_random(p, k.plane, static_cast<unsigned>(a.terms.dropout), row, key);
  }

  // p = exp2(scaled score - running_max), rounded; returns each lane's share of a row's sum.
  static TK_DEVICE column weigh(weights& p, scores const& s, column const& running_max,
                                float scale_log2) {
    return cast_with_sum(p, exp2(s * scale_log2 - running_max));
  }
  // Most steps neither look for a maximum nor rescale. Where a lane's share of a row's sum has
  // outgrown `largest_share`, that row's maximum moves up to that of its scores; returns the factor
  // for what was summed before, 1 in the other rows.
  static TK_DEVICE column move_max(weights& p, column& share, scores const& s, column& running_max,
                                   float scale_log2) {
    auto const top = where_above(across<larger>(share), largest_share,
                                 max(running_max, row_max(s) * scale_log2), running_max);
    auto const rescale = exp2(running_max - top);
    running_max = top;
    share = weigh(p, s, running_max, scale_log2);
    return rescale;
  }

  // Of a task's blocks of keys, up to which the rows of a worker, from `row` on, see any; at least
  // one.
  static TK_DEVICE int blocks_of_worker(args const& a, task const& t, int row) {
    int last = 0;
    if constexpr (placed) {
      auto const& of = t.at.of;
      if (row < of.nq) last = blocks_of(a.terms.seen.keys_seen(of, row, M), N).last - t.first;
    } else if (row < a.nq) {
      int const seen = causal ? row + M + a.nk - a.nq : a.nk;
      last = seen < 1 ? 1 : ceil_div(seen, N);
    }
    return last < 1 ? 1 : last < t.blocks ? last : t.blocks;
  }

  // The blocks of keys that all rows of a worker, from `row` on, see whole, and whose scores are
  // the products.
  static TK_DEVICE range unmasked(args const& a, [[maybe_unused]] task const& t, int row) {
    if (general || a.prescale != 1.f) return {0, 0};
    if constexpr (placed) {
      auto const& of = t.at.of;
      auto const& seen = a.terms.seen;
      int const opposite = row + of.nk - of.nq, right = opposite + seen.right,
                left = opposite + M - 1 - seen.left;
      return {left > 0 ? ceil_div(left, N) : 0, (right + 1 < of.nk ? right + 1 : of.nk) / N};
    } else {
      int const seen = causal && row + 1 + a.nk - a.nq < a.nk ? row + 1 + a.nk - a.nq : a.nk;
      return {0, seen < 0 ? 0 : seen / N};
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const row = t.row + c.w.id() * M;
    auto const whole = unmasked(a, t, row);
    row_terms k{};
    if constexpr (general) {
      k.slope = a.terms.slope(t.at.batch, t.head);
      if (a.terms.dropout) k.plane = a.terms.plane(t.at.batch, t.head, a.hq);
    }
    auto& q = c.own.take().q;
    reg_tile<float, M, D> o = 0.f;
    column running_max = lowest, running_sum = 0.f;
    if constexpr (placed) {
      if (t.blocks == 0) {
        c.w.sync();  // all lanes have taken what one gives back
        c.own.release();
        return finish(a, t, row, o, running_max, running_sum);
      }
    }
    scores s;
    weights p;

    mm_abt(s, q, c.in.take().kv);
    wait<0>(s);
    c.in.release();
    score(s, a, t, k, row, t.first * N);
    running_max = max(running_max, row_max(s) * a.scale_log2);
    running_sum = weigh(p, s, running_max, a.scale_log2);
    drop(p, a, k, row, t.first * N);

    auto const step = [&](int block, bool masked) {
      weights spare;
      weights& next =
          tune.ahead ? spare : p;  // this step's, while products may read the last one's
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
      if (masked) score(s, a, t, k, row, block * N);
      column share = weigh(next, s, running_max, a.scale_log2);
      if (any_above(share, largest_share)) {
        if constexpr (tune.ahead) wait<0>(o, p);
        auto const rescale = move_max(next, share, s, running_max, a.scale_log2);
        o = o * rescale;
        running_sum = running_sum * rescale;
      }
      drop(next, a, k, row, block * N);
      c.in.try_wait();
      running_sum = running_sum + share;
      if constexpr (tune.ahead) {
        wait<0>(o, p);
        c.in.release();
        take_over(p, next);
      }
    };
    int const blocks = blocks_of_worker(a, t, row), end = t.first + blocks;
    int block = t.first + 1;
    if constexpr (!placed) {
      for (; block < whole.last && block < end; ++block) step(block, false);
      for (; block < end; ++block) step(block, true);
    } else if constexpr (general) {
      for (; block < end; ++block) step(block, true);
    } else {
      while (block < end) {
        for (; whole.first <= block && block < whole.last && block < end; ++block)
          step(block, false);
        if (block < end) step(block++, true);
      }
    }
    c.own.release();
    // The rows of other workers may see more. Ahead, the next keys lie before this worker's last
    // values.
    bool const done_early = blocks < t.blocks;
    if (tune.ahead && done_early) skip_block(c, 1);
    mma_ab(o, p, c.in.take().kv);
    wait<0>(o, p);
    c.in.release();
    finish(a, t, row, o, running_max, total(running_sum));
    for (block = blocks + tune.ahead; block < t.blocks; ++block) skip_block(c, 2);
    if (tune.ahead && done_early) skip(c, 1);
  }
  // A block's slots, and the turn that comes with them.
  template <class Context> static TK_DEVICE void skip_block(Context& c, int slots) {
    if constexpr (tune.turns) c.turn.await(), c.turn.pass();
    skip(c, slots);
  }

  // To o and lse, with the sink.
  static TK_DEVICE void finish(args const& a, task const& t, int row, reg_tile<float, M, D>& o,
                               column running_max, column running_sum) {
    column const of_keys = running_sum;
    if constexpr (placed) {
      if (a.terms.sinks.data) {
        column const sink = a.terms.sink_log2(t.head), top = max(running_max, sink);
        auto const rescale = exp2(running_max - top);
        running_sum = running_sum * rescale + exp2(sink - top);
        o = o * rescale;
        running_max = top;
      }
    }
    column inverse = where_equal(of_keys, 0.f, 0.f, reciprocal(running_sum));
    if constexpr (general) inverse = inverse * a.terms.kept_inverse();
    o = combine<times_or_zero>(o, inverse);  // 0 where no key is seen, whatever is in v
    int const first = first_row(t) + row - t.row;
    int left = a.nq - row;
    if constexpr (placed) left = t.at.of.nq - row;
    if (a.lse)
      store(a.lse + t.batch * a.lse_b_stride + t.head * a.lse_h_stride + first,
            where_equal(running_sum, 0.f, -inf, (running_max + log2(running_sum)) * ln_2), left);
    if constexpr (placed) store(window(a.o, first, 0, t.head, t.batch, first + left), cast<T>(o));
    else store(window(a.o, first, 0, t.head, t.batch), cast<T>(o));
  }
};

}  // namespace tk
