// SPDX-License-Identifier: MIT
// What a task of a scan walks: a sequence, or so many segments of one, whose state is known; or one
// segment, whose sum is wanted.
#pragma once
#include "core/divisor.hpp"
#include "ops/linear_attention/plan.hpp"

namespace tk {

// Walks of `each` segments; 0: none is cut. Of a batch's sequences each has as many.
struct scan_walks {
  int each = 0;
  divisor by_each, by_walks;

  // Of segments of so many tokens.
  static scan_walks of(scan_rows const& rows, int each, int segment) {
    if (each == 0) return {};
    auto const walks = rows.blocks_of_sequence(each * segment);
    return {each, divisor(static_cast<std::uint32_t>(each)),
            divisor(static_cast<std::uint32_t>(walks))};
  }
};

// `segment`: the one that it begins in, counted through all sequences, as chunks are from
// `first_chunk`, the sequence's first one, on.
struct scan_walk {
  int sequence, first, chunks, first_chunk, segment;
  scan_rows::place at;
};

// Sequences cut into segments of so many chunks of C tokens, and into walks of some segments, the
// last one or, where reversed, the one that is walked first, of what is left.
template <int C, int Segment> struct scan_cut {
  scan_rows const& rows;
  scan_walks of;
  bool reversed;

  TK_BOTH int walks() const { return of.each > 0 ? rows.blocks(of.each * Segment * C) : rows.b; }
  // Which walk of which sequence the block-th of all is.
  struct numbers {
    int sequence, nth;
  };
  TK_BOTH numbers place(int block) const {
    if (of.each == 0) return {block, 0};
    if (rows.is_packed) {
      int const height = of.each * Segment * C, s = rows.packed.sequence_of(block, height);
      return {s, block - rows.packed.first_block(s, height)};
    }
    auto const at = of.by_walks.of(block);
    return {at.quotient, at.rest};
  }
  TK_BOTH scan_walk walk(int block) const {
    scan_walk x{};
    int const length = of.each * Segment;
    auto const [sequence, nth] = place(block);
    x.sequence = sequence;
    x.at = rows.sequence(x.sequence);
    x.first_chunk = rows.first_block(x.sequence, C);
    x.chunks = ceil_div(x.at.n, C);
    if (of.each > 0) {
      x.first = nth * length;
      int const left = nth < 0 ? 0 : x.chunks - x.first;
      x.chunks = left < 0 ? 0 : left < length ? left : length;
      x.segment = rows.first_block(x.sequence, Segment * C);
      if (x.chunks > 0) x.segment += (reversed ? x.first + x.chunks - 1 : x.first) / Segment;
    }
    return x;
  }
  // Whether it ends where its sequence does. Packed sequences leave room for blocks that none has.
  TK_BOTH bool is_last(scan_walk const& x) const {
    if (of.each == 0) return true;
    int const chunks = ceil_div(x.at.n, C);
    if (x.first < 0 || (x.first > 0 && x.first >= chunks)) return false;
    return reversed ? x.first == 0 : x.first + of.each * Segment >= chunks;
  }

  // Segments of a sequence are counted in the order in which they are walked.
  TK_BOTH static int segments(int n) { return n > 0 ? ceil_div(ceil_div(n, C), Segment) : 1; }
  // That in which the last walk begins: sums are wanted of those before it.
  TK_BOTH int last_start(int n) const {
    int const all = segments(n), left = all < of.each ? all : of.each;
    return reversed ? all - left : all - 1 - of.by_each.of(all - 1).rest;
  }
  // Whether a walk begins in the i-th.
  TK_BOTH bool begins_in(int i, int n) const {
    return (reversed && i == 0) || of.by_each.of(reversed ? segments(n) - i : i).rest == 0;
  }
  // How many segments a walk of one comes after last_start().
  TK_BOTH int after_last_start(scan_walk const& x) const {
    int const nth = x.first / Segment;
    return (reversed ? segments(x.at.n) - 1 - nth : nth) - last_start(x.at.n);
  }
};

}  // namespace tk
