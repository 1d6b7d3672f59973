// SPDX-License-Identifier: MIT
// Which spectra meet in which output of a long convolution (spectra_conv.hpp).
#pragma once
#include <cstdint>

#include "backends/select.hpp"

#include TK_CHIP(arch.hpp)

namespace tk {

// What stands beside a block in its window: nothing, the block before it, or the one after it.
enum class window_kind : int { alone, before, after };

// The terms of an output's block, in two loops: for each of `outer` sequences, windows from a on
// and from b on; a goes up or down.
struct spectral_terms {
  int outer, inner;
  std::int64_t a, b;  // numbers of spectra
  int a_step;
};

// Which spectra meet in which output.
struct spectral_plan {
  enum kinds : int { causal, correlation, filter_gradient };
  int kind;
  int b, h, share;     // sequences [b, h]; a filter is of `share` channels
  int blocks, pieces;  // of outputs' sequences; of filters
  int first, windows;  // of A's in each sequence, which may begin before the first block

  // Of a convolution's output: sequence and block; of a gradient's: filter and piece.
  TK_BOTH spectral_terms terms(int row, int block) const {
    if (kind == filter_gradient) {
      int const there = windows - block < blocks ? windows - block : blocks;
      return {b * share, there < 0 ? 0 : there, block, 0, 1};
    }
    std::int64_t const filter = std::int64_t{row % h / share} * pieces;
    std::int64_t const at = std::int64_t{row} * windows + (block - first);
    if (kind == correlation) {
      int const there = first + windows - block;
      return {1, there < pieces ? there : pieces, at, filter, 1};
    }
    int const there = block - first + 1;
    return {1, there < pieces ? there : pieces, at, filter, -1};
  }
  // The sequence of a gradient's outer step.
  TK_BOTH std::int64_t sequence(int filter, int step) const {
    return std::int64_t{step / share} * h + filter * share + step % share;
  }
};

}  // namespace tk
