// SPDX-License-Identifier: MIT
// The rows of packed sequences, which lie one after another in a tensor. Blocks of `height` of them
// are counted through all sequences, of which s begins at first_block(s, height): never more than
// there is room for, because a sequence that does not begin or end on a multiple of the height has
// one place more.
#pragma once
#include <cstdint>

#include "core/schedule.hpp"

namespace tk {

struct packed_rows {
  std::int32_t const* starts;  // [sequences + 1], on the device
  int sequences, total, most;  // most: rows of one sequence

  TK_BOTH int start(int s) const {
    std::int32_t const x = starts[s];
    return x < 0 ? 0 : x < total ? x : total;
  }
  TK_BOTH int length(int s) const {
    int const n = start(s + 1) - start(s);
    return n < most ? n : most;
  }
  TK_BOTH int first_block(int s, int height) const { return start(s) / height + s; }
  TK_BOTH int blocks(int height) const { return sequences > 0 ? total / height + sequences : 0; }
  // The sequence in which a block may be.
  TK_BOTH int sequence_of(int block, int height) const {
    int first = 0, last = sequences - 1;
    while (first < last) {
      int const middle = first + (last - first + 1) / 2;
      if (first_block(middle, height) <= block) first = middle;
      else last = middle - 1;
    }
    return first;
  }
};

}  // namespace tk
