// SPDX-License-Identifier: MIT
// attention backward, first launch: what the products need of each row of queries.
// Gives      delta = row sums of o * dout, and lse in log2 units, fp32, +inf where a row sees no
//            key (so that exp2(score - lse) is 0), both padded to whole blocks of queries; the
//            turns of dq, zero; dq = 0 in blocks of queries that see no key.
//            With dropout exp2(score - lse) is p / (1 - rate), and delta so much smaller: then
//            ds = p / (1 - rate) (mask dp - delta), and no weight is multiplied again.
// Order      a row's sum is one worker's, in the layout's order: equal bits.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/partial_tiles.hpp"
#include "core/reduce.hpp"
#include "ops/attention/backward_terms.hpp"

namespace tk {

// What the two launches share, in the workspace.
template <class Cut> struct attention_backward_rows {
  using cut = Cut;
  attention_backward_sizes sizes;
  float *lse, *delta;                // [b, hq, padded nq]
  unsigned* turns;                   // of each piece: how many blocks of keys have added to it
  partial_tiles<cut::Q, cut::C> dq;  // of each piece, while not all of them have

  TK_BOTH std::int64_t row(int row, int head, int batch) const {
    return sizes.template query_block<cut>(0, head, batch) * cut::queries + row;
  }
  TK_BOTH std::int64_t piece(int block, int head, int batch, int part, int worker) const {
    return sizes.template query_block<cut>(block, head, batch) * cut::pieces + part * cut::workers +
           worker;
  }
};

struct row_of_sequence {
  sequence of;
  int row;
};

template <class T, int D, option_set Options = option_set::none> struct attention_backward_prepare {
  using cut = attention_backward_cut<D, Options>;
  static constexpr int M = cut::Q, C = cut::C, slot_bytes = 2 * M * D * int{sizeof(T)};
  static constexpr int workers = 1, cluster = 1, own_slots = 1;
  static constexpr int stages = 2 * slot_bytes + 8192 <= be::smem_bytes ? 2 : 1;

  struct stage {
    shared_tile<T, M, D> o, dout;
  };
  struct own {};
  struct scratch {};
  struct args {
    be::source<T, M, D> o, dout;
    be::sink<T, M, C> dq;
    attention_backward_rows<cut> rows;
    float const* lse;  // [b, hq, nq], or [hq, total_q]
    std::int64_t lse_b_stride, lse_h_stride;
    std::conditional_t<cut::placed, device_terms<T>, no_terms> terms;
  };
  struct task {
    int row, head, batch, steps;  // row: of the workspace
    std::conditional_t<cut::placed, row_of_sequence, no_place> in;
  };

  static TK_BOTH int slices(args const& a) {
    return a.rows.sizes.template query_blocks<cut>() * (cut::queries / M);
  }
  static TK_BOTH int tasks(args const& a) {
    return slices(a) * a.rows.sizes.heads() * a.rows.sizes.b;
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const of = i / slices(a), heads = a.rows.sizes.heads();
    task t{i % slices(a) * M, of % heads, of / heads, 1, {}};
    if constexpr (cut::placed) {
      t.in = {{0, 0, a.rows.sizes.nq, a.rows.sizes.nk}, t.row};
      if (a.terms.packed()) {
        int const s = a.terms.q.sequence_of(t.row / cut::queries, cut::queries);
        t.in.of = a.terms.at(s);
        t.in.row -= a.terms.q.first_block(s, cut::queries) * cut::queries;
        if (t.in.row < 0) t.in.row = t.in.of.nq;  // of no sequence
      }
    }
    return t;
  }
  // Of a head's queries.
  template <class X> static TK_DEVICE auto rows_of(X const& x, task const& t, int col) {
    if constexpr (cut::placed) {
      auto const& of = t.in.of;
      return window(x, of.q_start + t.in.row, col, t.head, t.batch, of.q_start + of.nq);
    } else {
      return window(x, t.row, col, t.head, t.batch);
    }
  }
  // Whether the block of queries in which the task's rows are sees no key.
  static TK_DEVICE bool sees_nothing(args const& a, task const& t) {
    if constexpr (cut::placed) {
      auto const seen = key_blocks_seen<cut>(a.terms.seen, t.in.of, t.in.row / cut::queries);
      return seen.first == seen.last;
    } else {
      return a.rows.sizes.template key_blocks_seen<cut>(t.row / cut::queries) == 0;
    }
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int, be::arrival done) {
    load_async(s.o, rows_of(a.o, t, 0), done);
    load_async(s.dout, rows_of(a.dout, t, 0), done);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto const& rows = a.rows;
    auto& s = c.in.take();
    reg_tile<T, M, D> o, dout;
    tk::load(o, s.o);
    tk::load(dout, s.dout);
    release_loaded(c.w, c.in);
    int first = t.row, left = rows.sizes.nq - t.row;
    if constexpr (cut::placed) first = t.in.of.q_start + t.in.row, left = t.in.of.nq - t.in.row;
    auto const lse =
        load_col<M>(a.lse + t.batch * a.lse_b_stride + t.head * a.lse_h_stride + first, left, -inf);
    auto const at = rows.row(t.row, t.head, t.batch);
    auto lse_log2 = where_equal(lse, -inf, inf, lse * log2_e);
    auto delta = row_sum(o * dout);
    if constexpr (Options == option_set::all) {
      if (a.terms.dropout != 0) {
        lse_log2 = lse_log2 - a.terms.kept_inverse_log2();
        delta = delta * (1.f / a.terms.kept_inverse());
      }
    }
    store(rows.lse + at, lse_log2, M);
    store(rows.delta + at, delta, M);

    int const block = t.row / cut::queries, slice = t.row % cut::queries / M;
    if (slice == 0) {
      unsigned* const turns =
          rows.turns + rows.sizes.template query_block<cut>(block, t.head, t.batch) * cut::turns;
      for (int i = c.w.lane(); i < cut::turns; i += be::worker_lanes) turns[i] = 0;
    }
    if (!cut::split && sees_nothing(a, t)) {
      reg_tile<float, M, C> const zero = 0.f;
      for (int col = 0; col < D; col += C) store(rows_of(a.dq, t, col), cast<T>(zero));
    }
  }
};

}  // namespace tk
