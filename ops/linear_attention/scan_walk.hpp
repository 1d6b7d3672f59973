// SPDX-License-Identifier: MIT
// What a task of a scan walks: a sequence, or a segment of one whose state is known or not wanted.
#pragma once
#include "ops/linear_attention/plan.hpp"

namespace tk {

struct scan_walk {
  int sequence, first, chunks, first_chunk;  // the last one counted through all sequences
  scan_rows::place at;
};

// Where sequences are cut or not, into segments of so many chunks of C tokens.
template <int C, int Segment> struct scan_cut {
  scan_rows const& rows;
  bool is_cut;
  TK_BOTH int walks() const { return is_cut ? rows.blocks(Segment * C) : rows.b; }
  TK_BOTH scan_walk walk(int block) const {
    scan_walk x{};
    x.sequence = is_cut ? rows.sequence_of(block, Segment * C) : block;
    x.at = rows.sequence(x.sequence);
    x.first_chunk = rows.first_block(x.sequence, C);
    x.chunks = ceil_div(x.at.n, C);
    if (is_cut) {
      x.first = (block - rows.first_block(x.sequence, Segment * C)) * Segment;
      int const left = x.first < 0 ? 0 : x.chunks - x.first;
      x.chunks = left < 0 ? 0 : left < Segment ? left : Segment;
    }
    return x;
  }
  // Whether it ends where its sequence does. Packed sequences leave room for blocks that none has.
  TK_BOTH bool is_last(scan_walk const& x, bool reversed) const {
    if (!is_cut) return true;
    int const chunks = ceil_div(x.at.n, C);
    if (x.first < 0 || (x.first > 0 && x.first >= chunks)) return false;
    return reversed ? x.first == 0 : x.first + Segment >= chunks;
  }
};

}  // namespace tk
