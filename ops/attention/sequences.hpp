// SPDX-License-Identifier: MIT
// Packed sequences, and which keys and queries meet: the same for kernels, host and tests.
#pragma once
#include <cstdint>

#include "core/packed_rows.hpp"
#include "core/schedule.hpp"

namespace tk {

// Rows and keys of one sequence: where they begin in q and k, and how many there are.
struct sequence {
  int q_start, k_start, nq, nk;
};

// From the first up to the last; none where the first is no less than the last.
struct range {
  int first, last;
};

// Row i sees the keys from a - left up to a + right, a = i + nk - nq, the one opposite.
struct key_window {
  int left, right;  // 0 or more

  // What rows [row, row + rows) of a sequence may see of its keys.
  TK_BOTH range keys_seen(sequence const& of, int row, int rows) const {
    int const opposite = row + of.nk - of.nq, end = row + rows < of.nq ? row + rows : of.nq;
    int const first = opposite - left, last = end + of.nk - of.nq + right;
    return {first < 0 ? 0 : first, last < of.nk ? last : of.nk};
  }
  // The rows that may see any of the keys [key, key + keys): the same pairs from the other side.
  TK_BOTH range rows_seeing(sequence const& of, int key, int keys) const {
    int const opposite = key + of.nq - of.nk, end = key + keys < of.nk ? key + keys : of.nk;
    int const first = opposite - right, last = end + of.nq - of.nk + left;
    return {first < 0 ? 0 : first, last < of.nq ? last : of.nq};
  }
};

// The blocks of `height` in which a range has anything, of those that begin at 0.
TK_BOTH constexpr range blocks_of(range const& x, int height) {
  return x.first < x.last ? range{x.first / height, ceil_div(x.last, height)} : range{0, 0};
}

}  // namespace tk
