// SPDX-License-Identifier: MIT
#pragma once
#include "ops/linear_attention/plan.hpp"

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

}  // namespace tk
