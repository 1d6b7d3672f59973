// SPDX-License-Identifier: MIT
// attention backward: what becomes of the pieces of dq that workers make transposed, H of its
// columns x the M rows of a slice (backward_plan.hpp).
// Order     a piece gets the sums of the blocks of keys that see its rows in ascending order: each
//           waits for its turn, and the last one writes dq.
// Overlap   nobody waits for an addition but one warp, which passes the turn for all of its block
//           a step later, when most are done. Each warp awaits it for itself, and asks early.
#pragma once
#include "core/partial_tiles.hpp"
#include "ops/attention/attention_backward_prepare.hpp"
#include "ops/attention/backward_walk.hpp"

namespace tk {

// One of a walk's blocks of queries; index: among all heads and batches.
struct block_of_queries {
  int block, head, index;
};

template <class T, class Cut> class backward_dq {
 public:
  static constexpr int H = Cut::H, M = Cut::M, at_once = Cut::columns / H;
  static constexpr int none = -1;
  using tile = reg_tile<float, H, M>;

  template <class Args, class Task>
  static TK_DEVICE block_of_queries first(Args const& a, Task const& t) {
    int const head = t.head * a.rows.sizes.group_heads;
    auto const index =
        a.rows.sizes.template query_block<Cut>(block_in_workspace(t, t.last), head, t.batch);
    return {t.last, head, static_cast<int>(index)};
  }
  template <class Args, class Task>
  static TK_DEVICE block_of_queries next(Args const& a, Task const& t, block_of_queries at) {
    if (at.block > t.last + 1 - t.walked) return {at.block - 1, at.head, at.index - 1};
    int const back = t.last - at.block;
    return {t.last, at.head + 1, at.index + back + a.rows.sizes.template query_blocks<Cut>()};
  }

  // Of this worker's rows.
  template <class Args, class Task>
  TK_DEVICE backward_dq(be::worker w, Args const& a, Task const& t, block_of_queries const& at)
      : index_(at.index * Cut::workers + w.id()),
        before_(t.key_block),
        later_(t.last - at.block < t.walked_later),
        turn_(a.rows.turns + at.index) {
    if constexpr (Cut::placed)
      before_ -= key_blocks_seen<Cut>(a.with.terms.seen, t.at.of, at.block).first;
    if (before_ > 0 && later_) count_ = peek_count(own_warp(w), turn_);
  }
  // The part-th H columns, of rows from `row` of the head on; after the 0-th the others.
  template <class Args, class Task>
  TK_DEVICE void add(be::worker w, Args const& a, Task const& t, int row, int head, int part,
                     tile& dq) const {
    added_tiles<H, M> const sums{a.rows.dq.data};
    auto const at = std::int64_t{index_} * at_once + part;
    auto const turn = static_cast<unsigned>(before_);
    if (later_) {
      if (before_ == 0) return store(sums, at, dq);
      if (part == 0) wait_to_add(own_warp(w), turn_, turn, count_);
      return store_add(sums, at, dq);
    }
    if (before_ > 0) {
      if (part == 0) wait_for_count(own_warp(w), turn_, turn);
      load_add(dq, sums, at);
    }
    dq = dq * a.scale + 0.f;  // zeros are +0, as where no key is seen
    auto to = a.dq;
    if constexpr (Cut::placed) {
      to.rows = t.at.of.q_start + t.at.of.nq;
      row += t.at.of.q_start;
    }
    store_transposed(to, row, part * H, head, t.batch, dq);
  }
  // The turn to pass, if later blocks of keys wait for it.
  template <class Task> static TK_DEVICE int to_pass(Task const& t, block_of_queries const& at) {
    return t.last - at.block < t.walked_later ? at.index : none;
  }
  // When all workers have met since they added.
  template <class Args> static TK_DEVICE void pass(be::worker w, Args const& a, int turn) {
    if (turn != none && w.id() == 0 && w.lane() < be::warp_lanes)
      count_up(own_warp(w), a.rows.turns + turn);
  }

 private:
  int index_, before_;  // before: blocks of keys that add to it first
  bool later_;          // whether others add to it after
  unsigned* turn_;
  unsigned count_ = 0;
};

}  // namespace tk
