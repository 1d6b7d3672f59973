// SPDX-License-Identifier: MIT
// attention backward: the walk of a block of keys of one key head through the queries of all its
// query heads, and the windows that it meets.
#pragma once
#include "ops/attention/backward_terms.hpp"

namespace tk {

template <bool Placed> struct backward_walk {
  int key_block, head, batch;  // head: of keys
  int last, walked;            // blocks of queries: last, last - 1, ... of each query head
  int walked_later;            // those that see the next block of keys, too: the first ones
  int part, steps, sends;      // as a launch counts them
  std::conditional_t<Placed, backward_place, no_place> at;
};

// head: of all batches. Past the last block of a packed sequence nothing is read or written.
template <class Cut, class With>
TK_BOTH backward_walk<Cut::placed> walk_of(attention_backward_sizes const& x,
                                           [[maybe_unused]] With const& with, int key_block,
                                           int head) {
  backward_walk<Cut::placed> t{};
  t.key_block = key_block;
  t.head = head % x.hk;
  t.batch = head / x.hk;
  if constexpr (Cut::placed) {
    auto const& terms = with.terms;
    bool const packed = terms.packed();
    t.at = place_of<Cut>(x, terms, packed ? terms.k.sequence_of(key_block, Cut::keys) : t.batch);
    if (packed) {
      t.key_block -= terms.k.first_block(t.at.batch, Cut::keys);
      if (t.key_block < 0) t.key_block = ceil_div(t.at.of.nk, Cut::keys);
    }
    auto const walk = query_blocks_seeing<Cut>(terms.seen, t.at.of, t.key_block);
    t.last = walk.last - 1;
    t.walked = walk.last - walk.first;
    auto const next = query_blocks_seeing<Cut>(terms.seen, t.at.of, t.key_block + 1);
    int const first = next.first > walk.first ? next.first : walk.first;
    t.walked_later = next.first < next.last && first < walk.last ? walk.last - first : 0;
  } else {
    t.last = x.template query_blocks<Cut>() - 1;
    t.walked = t.last + 1 - x.template first_query_block<Cut>(key_block);
    t.walked_later = x.template walked_later<Cut>(key_block);
  }
  return t;
}

// Windows of a head's queries and keys, and where a block of queries begins in the workspace.
template <bool Placed, class X>
TK_DEVICE auto queries_at(X const& x, backward_walk<Placed> const& t, int row, int col, int head) {
  if constexpr (Placed) {
    auto const& of = t.at.of;
    return window(x, of.q_start + row, col, head, t.batch, of.q_start + of.nq);
  } else {
    return window(x, row, col, head, t.batch);
  }
}
template <bool Placed, class X>
TK_DEVICE auto keys_at(X const& x, backward_walk<Placed> const& t, int key, int col) {
  if constexpr (Placed) {
    auto const& of = t.at.of;
    return window(x, of.k_start + key, col, t.head, t.batch, of.k_start + of.nk);
  } else {
    return window(x, key, col, t.head, t.batch);
  }
}
template <bool Placed> TK_DEVICE int block_in_workspace(backward_walk<Placed> const& t, int block) {
  if constexpr (Placed) return t.at.first_block + block;
  else return block;
}

// p is 0 where a row does not see a key, of keys from `key` and rows from `row` on.
template <class Op, int N, int M>
TK_DEVICE void apply_mask_transposed(reg_tile<float, N, M>& p, typename Op::args const& a,
                                     typename Op::task const& t, int key, int row) {
  if constexpr (Op::placed) {
    keep_seen_transposed(p, a.with.terms.seen, t.at.of, row, key, 0.f);
  } else {
    auto const& x = a.rows.sizes;
    if (key + N > x.nk) keep_rows(p, x.nk - key, 0.f);
    if (int const diagonal = row + x.nk - x.nq - key; Op::causal && diagonal < N - 1)
      keep_upper(p, diagonal, 0.f);
  }
}

}  // namespace tk
