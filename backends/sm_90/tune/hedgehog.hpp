// SPDX-License-Identifier: MIT
// 227 KB of shared memory: two workers with their features and states 64 KB, maps 32 KB. Other
// sizes have not been tried.
#pragma once
#include "ops/hedgehog/tuning.hpp"

namespace tk::be {

constexpr hedgehog_tuning tune_hedgehog() {
  return {.workers = 2, .P = 64, .slots = 6, .resident = true, .shares = true};
}

constexpr hedgehog_backward_tuning tune_hedgehog_backward() {
  return {.workers = 2, .slots = 6, .resident = true};
}

}  // namespace tk::be
