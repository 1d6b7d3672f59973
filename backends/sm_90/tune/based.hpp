// SPDX-License-Identifier: MIT
// A worker has 80 KB of shared memory, and a state of 80 registers. Other sizes
// have not been tried.
#pragma once
#include "ops/based/tuning.hpp"

namespace tk::be {

constexpr based_tuning tune_based() {
  return {.workers = 2, .C = 64, .P = 64, .slots = 2, .segment = 16};
}

}  // namespace tk::be
