// SPDX-License-Identifier: MIT
// Not measured on a card: a warp for each run of tokens, and no register spilled. In the forward 12
// warps have 24 to 48 KB of a multiprocessor on their way, in the backward, which keeps sums
// besides, 8 warps 32 to 64 KB; a copy wants some 10 KB of reads at a time.
#pragma once
#include "ops/conv1d/tuning.hpp"

namespace tk::be {

constexpr conv1d_tuning tune_conv1d(int element_bytes) {
  return {.workers = 1, .R = 4, .N = 256, .ahead = element_bytes == 4 ? 2 : 4, .per_unit = 3};
}
constexpr conv1d_tuning tune_conv1d_backward(int element_bytes) {
  return {.workers = 1, .R = 4, .N = 256, .ahead = element_bytes == 4 ? 2 : 4, .per_unit = 2};
}

}  // namespace tk::be
