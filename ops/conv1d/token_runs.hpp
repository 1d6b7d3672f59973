// SPDX-License-Identifier: MIT
// Runs of tokens: sequences of a batch, or packed ones, cut into pieces of one length from their
// first token on. A sequence without tokens has a run, too, for its states.
#pragma once
#include "core/packed_rows.hpp"
#include "core/schedule.hpp"

namespace tk {

struct token_run {
  int sequence;
  int batch, start;  // the sequence's token t is x[batch, start + t]
  int n;             // tokens of the sequence
  int first, end;    // of the run
  bool there;        // else all is 0

  TK_BOTH bool begins() const { return there && first == 0; }
};

struct token_runs {
  packed_rows packed;  // `starts` is null where sequences are a batch
  int sequences, n, length;

  TK_BOTH int of_each() const { return n <= length ? 1 : ceil_div(n, length); }
  TK_BOTH int count() const {
    return packed.starts ? packed.blocks(length) : sequences * of_each();
  }
  TK_BOTH token_run at(int i) const {
    if (i >= count()) return {};
    token_run r{};
    if (packed.starts) {
      r.sequence = packed.sequence_of(i, length);
      r.start = packed.start(r.sequence);
      r.first = (i - packed.first_block(r.sequence, length)) * length;
      r.n = packed.length(r.sequence);
    } else {
      r.sequence = r.batch = i / of_each();
      r.first = i % of_each() * length;
      r.n = n;
    }
    if (r.n < 0) r.n = 0;
    r.there = r.first == 0 || (r.first > 0 && r.first < r.n);
    if (!r.there) return {};
    r.end = r.n - r.first < length ? r.n : r.first + length;
    return r;
  }
};

}  // namespace tk
