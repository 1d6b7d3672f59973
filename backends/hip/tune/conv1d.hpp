// SPDX-License-Identifier: MIT
// Not measured on a card: a run of tokens for each wave, two waves of a SIMD in the forward, one in
// the backward, which keeps sums besides.
#pragma once
#include "ops/conv1d/tuning.hpp"

namespace tk::be {

constexpr conv1d_tuning tune_conv1d(int) {
  return {.workers = 8, .R = 1, .N = 512, .ahead = 4, .per_unit = 0};
}
constexpr conv1d_tuning tune_conv1d_backward(int) {
  return {.workers = 4, .R = 1, .N = 512, .ahead = 4, .per_unit = 0};
}

}  // namespace tk::be
