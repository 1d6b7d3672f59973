// SPDX-License-Identifier: MIT
// How attention_backward is cut, and what lies where in its workspace: the same for the query and
// the launch, on host and device.
//   a block of keys     workers * N of them, one task's
//   a block of queries  slices * M, one step of a task; rows are padded to whole blocks
//   a part              P of the D columns of dk, dv and dq, which a task owns
//   a piece             the M x C tile of dq that one worker computes in a step; a part of a block
//                       of queries has a piece for each worker
// A walk has at least one block of queries, so that dk and dv are written where there is no query.
#pragma once
#include <algorithm>

#include "core/schedule.hpp"
#include "ops/attention/backward_problem.hpp"
#include "ops/attention/tuning.hpp"

namespace tk {

template <int D> struct attention_backward_cut {
  static constexpr auto tune = be::tune_attention_backward(D);
  static constexpr int workers = tune.workers, N = tune.N, M = tune.M, slices = tune.slices;
  static constexpr int parts = tune.parts, P = D / parts, across = workers / slices, C = P / across;
  static constexpr int keys = workers * N, queries = slices * M, pieces = parts * workers;
  static_assert(D % parts == 0 && workers % slices == 0 && P % across == 0);
};

// Sizes as the kernels have them.
struct attention_backward_sizes {
  int nq, nk, hk, group_heads, b;
  bool causal;

  explicit attention_backward_sizes(attention_backward_problem const& x)
      : nq(x.q.h == 0 ? 0 : static_cast<int>(x.q.n)),
        nk(static_cast<int>(x.k.n)),
        hk(static_cast<int>(x.k.h)),
        group_heads(std::max(1, static_cast<int>(x.q.h / x.k.h))),
        b(static_cast<int>(x.q.b)),
        causal(x.mask == mask_kind::causal) {}
  attention_backward_sizes() = default;

  template <class Cut> TK_BOTH int key_blocks() const { return ceil_div(nk, Cut::keys); }
  template <class Cut> TK_BOTH int query_blocks() const {
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
  // A block of queries among all heads and batches.
  template <class Cut> TK_BOTH std::int64_t query_block(int block, int head, int batch) const {
    return (std::int64_t{batch} * heads() + head) * query_blocks<Cut>() + block;
  }
};

// Offsets of fp32 numbers, one for each row (lse, delta) or for each element (dq), and of counters.
struct attention_backward_layout {
  std::size_t lse, delta, turns, dq, bytes;

  template <int D> static attention_backward_layout of(attention_backward_sizes const& x) {
    using cut = attention_backward_cut<D>;
    auto const blocks = static_cast<std::size_t>(x.query_block<cut>(0, 0, x.b));
    auto const rows = blocks * cut::queries * sizeof(float);
    workspace_layout w;
    w.add_counters();
    attention_backward_layout y{};
    y.lse = w.add(rows);
    y.delta = w.add(rows);
    y.turns = w.add(blocks * cut::pieces * sizeof(unsigned));
    y.dq = x.key_blocks<cut>() > 1 ? w.add(rows * D) : 0;
    y.bytes = w.bytes();
    return y;
  }
};

}  // namespace tk
