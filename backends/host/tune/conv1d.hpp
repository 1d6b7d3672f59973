// SPDX-License-Identifier: MIT
// Not measured: tokens, weights and sums fit into the first cache.
#pragma once
#include "ops/conv1d/tuning.hpp"

namespace tk::be {

constexpr conv1d_tuning tune_conv1d(int) {
  return {.workers = 1, .R = 1, .N = 256, .ahead = 4, .per_unit = 0};
}
constexpr conv1d_tuning tune_conv1d_backward(int) { return tune_conv1d(0); }

}  // namespace tk::be
