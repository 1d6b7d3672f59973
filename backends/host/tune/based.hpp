// SPDX-License-Identifier: MIT
// Not measured yet.
#pragma once
#include "ops/based/tuning.hpp"

namespace tk::be {

constexpr based_tuning tune_based() {
  return {.workers = 1, .C = 64, .P = 64, .slots = 1, .segment = 16};
}

}  // namespace tk::be
