// SPDX-License-Identifier: MIT
// How attention_backward is cut, and what lies where in its workspace: the same for the query and
// the launch, on host and device.
//   a block of keys     workers * N of them, one task's; N where all workers have the same keys
//   a block of queries  slices * M, one step of a task; rows are padded to whole blocks
//   a part              P of the D columns of dk, dv and dq, which a task owns
//   a piece             the Q x C tile of dq that one worker computes in a step; a part of a block
//                       of queries has a piece for each worker. Of workers with the same keys, and
//                       on demand, it is a slice's, transposed; there are no parts. No pieces where
//                       dq has a launch of its own
// A walk has at least one block of queries, so that dk and dv are written where there is no query.
// With options blocks are those of a sequence, and of packed ones as many as there is room for; a
// walk may then be empty.
#pragma once
#include <algorithm>

#include "core/schedule.hpp"
#include "ops/attention/backward_problem.hpp"
#include "ops/attention/sequences.hpp"
#include "ops/attention/tuning.hpp"

namespace tk {

template <int D, option_set Options> struct attention_backward_cut {
  static constexpr option_set options = Options;
  static constexpr bool placed = Options != option_set::none;  // in a sequence, if need be
  static constexpr auto tune = Options == option_set::all ? be::tune_attention_backward_general(D)
                               : placed                   ? be::tune_attention_backward_seen(D)
                                                          : be::tune_attention_backward(D);
  static constexpr int columns = D;
  static constexpr bool split = tune.queries.workers > 0;  // dq has a launch of its own
  static constexpr bool same_keys = split || tune.same_keys;
  static constexpr int workers = tune.workers, N = tune.N, M = tune.M;
  static constexpr int slices = tune.slices;
  static constexpr int Q = tune.dq_rows > 0 ? tune.dq_rows : M;
  static constexpr int parts = tune.parts, P = D / parts, across = workers * Q / (slices * M),
                       C = P / across;
  static constexpr int keys = same_keys ? N : workers * N, queries = slices * M;
  static constexpr int pieces = split ? 0 : parts * workers;
  static constexpr int H = D < 128 ? D : 128;  // columns of dq at a time where it is transposed
  // dq is transposed, and a block of queries has one turn.
  static constexpr bool transposed = (same_keys || tune.dq_by_slice) && !split;
  static constexpr int turns = transposed ? 1 : pieces;
  static_assert(D % parts == 0 && workers * Q % (slices * M) == 0 && P % across == 0);
  static_assert(queries <= 256);  // as ops/attention/attention_backward.cpp checks sizes
  static_assert(!(same_keys || transposed) || (slices == workers && parts == 1));
};

// Sizes as the kernels have them. Of packed sequences nq and nk count all, and b is 1.
struct attention_backward_sizes {
  int nq, nk, hk, group_heads, b;
  int sequences;  // packed ones, or 0
  bool causal;

  explicit attention_backward_sizes(attention_backward_problem const& x)
      : nq(x.q.h == 0 ? 0 : static_cast<int>(x.q.n)),
        nk(static_cast<int>(x.k.n)),
        hk(static_cast<int>(x.k.h)),
        group_heads(x.k.h == 0 ? 1 : std::max(1, static_cast<int>(x.q.h / x.k.h))),
        b(static_cast<int>(x.q.b)),
        sequences(x.terms.packed ? static_cast<int>(x.terms.b) : 0),
        causal(x.mask == mask_kind::causal) {}
  attention_backward_sizes() = default;

  template <class Cut> TK_BOTH int key_blocks() const {
    if (Cut::placed && sequences > 0) return nk / Cut::keys + sequences;
    return ceil_div(nk, Cut::keys);
  }
  template <class Cut> TK_BOTH int query_blocks() const {
    if (Cut::placed && sequences > 0) return nq / Cut::queries + sequences;
    return nq > Cut::queries ? ceil_div(nq, Cut::queries) : 1;
  }
  TK_BOTH int heads() const { return hk * group_heads; }  // of queries, in one batch
  // The first block of queries that sees a block of keys; all after it do.
  template <class Cut> TK_BOTH int first_query_block(int key_block) const {
    int const row = key_block * Cut::keys + nq - nk;
    return causal && row > 0 ? row / Cut::queries : 0;
  }
  // How many blocks of keys a block of queries sees: the first so many.
  template <class Cut> TK_BOTH int key_blocks_seen(int query_block) const {
    int const end = (query_block + 1) * Cut::queries;
    int const seen = causal ? (end < nq ? end : nq) + nk - nq : nk;
    return seen <= 0 ? 0 : ceil_div(seen, Cut::keys);
  }
  // Of the blocks of queries that see a block of keys, how many see the next one, too.
  template <class Cut> TK_BOTH int walked_later(int key_block) const {
    if (key_block + 1 >= key_blocks<Cut>()) return 0;
    int const walked = query_blocks<Cut>() - first_query_block<Cut>(key_block + 1);
    return walked > 0 ? walked : 0;
  }
  // Of how many heads blocks of keys are dealt together. Few of a head are under way at once where
  // there are few: they follow one another.
  template <class Cut> TK_BOTH int heads_together() const {
    constexpr auto tune = Cut::tune;
    int const tasks = causal && tune.causal_together > 0 ? tune.causal_together : tune.together;
    int const least = causal && tune.causal_group > 0 ? tune.causal_group : tune.group;
    int const heads = tasks / key_blocks<Cut>();
    return heads > least ? heads : least;
  }
  // A block of queries among all heads and batches.
  template <class Cut> TK_BOTH std::int64_t query_block(int block, int head, int batch) const {
    return (std::int64_t{batch} * heads() + head) * query_blocks<Cut>() + block;
  }
};

// Offsets of fp32 numbers, one for each row (lse, delta) or for each element (dq), of counters, and
// of packed sequences' offsets, ascending and inside of their tensors.
struct attention_backward_layout {
  std::size_t lse, delta, turns, dq, q_starts, k_starts, bytes;

  template <class Cut> static attention_backward_layout of(attention_backward_sizes const& x) {
    using cut = Cut;
    auto const blocks = static_cast<std::size_t>(x.query_block<cut>(0, 0, x.b));
    auto const rows = blocks * cut::queries * sizeof(float);
    workspace_layout w;
    w.add_counters();
    attention_backward_layout y{};
    y.lse = w.add(rows);
    y.delta = w.add(rows);
    y.turns = cut::split ? 0 : w.add(blocks * cut::turns * sizeof(unsigned));
    y.dq = !cut::split && x.key_blocks<cut>() > 1 ? w.add(rows * cut::columns) : 0;
    if (x.sequences > 0) {
      auto const starts = (static_cast<std::size_t>(x.sequences) + 1) * sizeof(std::int32_t);
      y.q_starts = w.add(starts);
      y.k_starts = w.add(starts);
    }
    y.bytes = w.bytes();
    return y;
  }
};

// What the kernels of ops/attention/packed_starts.hpp and attention_backward_sinks.hpp take. Starts
// are those of queries and of keys; rows are those of a head in the workspace.
template <class T> struct packed_starts {
  T const* from[2];
  T* to[2];
  int total[2], count;
};
template <class T> struct attention_backward_sums {
  T const *lse, *delta;  // [b, heads, rows]
  by_head sinks;
  T* dsinks;
  std::int64_t dsinks_stride;
  int b, heads, rows, dropout;
};

}  // namespace tk
