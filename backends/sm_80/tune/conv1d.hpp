// SPDX-License-Identifier: MIT
// Not measured on a card: as many warps as registers allow, a run of tokens for each. In the
// forward 16 warps have 32 to 64 KB of a multiprocessor on their way, in the backward, which keeps
// sums besides, 8 warps as much.
#pragma once
#include "ops/conv1d/tuning.hpp"

namespace tk::be {

constexpr conv1d_tuning tune_conv1d(int element_bytes) {
  return {.workers = 1,
          .R = 4,
          .N = 256,
          .ahead = element_bytes == 4 ? 3 : 4,
          .per_unit = element_bytes == 4 ? 3 : 4};
}
constexpr conv1d_tuning tune_conv1d_backward(int element_bytes) {
  return {.workers = 1, .R = 4, .N = 256, .ahead = element_bytes == 4 ? 3 : 4, .per_unit = 2};
}

}  // namespace tk::be
