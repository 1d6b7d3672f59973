// SPDX-License-Identifier: MIT
// 227 KB of shared memory: features, weights and states of four workers 96 KB, maps 32 KB. On an
// H200 two workers who make their own weights take 1.16 times as long; weights by those who have
// the columns, or both workers' scores by each weigher, 1.07 times.
#pragma once
#include "ops/hedgehog/tuning.hpp"

namespace tk::be {

constexpr hedgehog_tuning tune_hedgehog() {
  return {.workers = 4, .P = 64, .slots = 6, .resident = true, .weighers = 2};
}

constexpr hedgehog_backward_tuning tune_hedgehog_backward() {
  return {.workers = 2, .slots = 6, .resident = true};
}

}  // namespace tk::be
