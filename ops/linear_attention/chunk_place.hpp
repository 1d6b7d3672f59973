// SPDX-License-Identifier: MIT
#pragma once
#include "ops/linear_attention/plan.hpp"
#include "ops/linear_attention/tuning.hpp"

namespace tk {

// The tokens of a chunk, counted through all sequences: `tokens` rows of a tensor from `row` on;
// none where there is only room for a chunk.
struct chunk_place {
  int batch, row, tokens;
};
TK_BOTH chunk_place place_of_chunk(scan_rows const& rows, int block, int C) {
  int const sequence = rows.sequence_of(block, C);
  auto const at = rows.sequence(sequence);
  // Packed sequences leave room for blocks before the first one, too.
  int const first = (block - rows.first_block(sequence, C)) * C,
            left = first < 0 ? 0 : at.n - first;
  return {at.batch, at.first + first, left < 0 ? 0 : left < C ? left : C};
}

// The heads of a task that has one for each worker, from `first` on. Workers whose head would lie
// behind the last of all have that one, and leave nothing.
struct worker_heads {
  int first, all;
  static TK_BOTH int groups(int all, int workers) { return ceil_div(all, workers); }
  TK_BOTH bool has(int worker) const { return first + worker < all; }
  TK_BOTH int of(int worker) const { return has(worker) ? first + worker : all - 1; }
};

}  // namespace tk
