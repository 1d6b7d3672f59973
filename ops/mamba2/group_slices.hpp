// SPDX-License-Identifier: MIT
// How the heads of a group are cut into tasks of chunk_gradients.hpp, and where these leave dB and
// dC, for group_sums.hpp, if a group has more heads than one task.
#pragma once
#include "core/partial_tiles.hpp"
#include "ops/mamba2/plan.hpp"

namespace tk {

template <int C, int D> struct group_slices {
  partial_tiles<C, D> sums;    // of each slice of each group of each chunk: dB, dC
  int groups, sharing, count;  // groups; heads and slices of a group

  struct slice {
    int block, group, slice, head, heads;
  };
  TK_BOTH int tasks(int blocks) const { return blocks * groups * count; }
  TK_BOTH slice at(int i) const {
    int const nth = i % count, group = i / count % groups, first = nth * heads_at_once,
              left = sharing - first;
    return {i / (count * groups), group, nth, group * sharing + first,
            left < heads_at_once ? left : heads_at_once};
  }
  TK_BOTH std::int64_t nth(int block, int group, int slice, bool of_C) const {
    return ((std::int64_t{block} * groups + group) * count + slice) * 2 + of_C;
  }
};

}  // namespace tk
