// SPDX-License-Identifier: MIT
// Not measured yet.
#pragma once
#include "ops/hedgehog/tuning.hpp"

namespace tk::be {

constexpr hedgehog_tuning tune_hedgehog() {
  return {.workers = 1, .P = 128, .slots = 1, .resident = false};
}

constexpr hedgehog_backward_tuning tune_hedgehog_backward() {
  return {.workers = 1, .slots = 2, .resident = false};
}

}  // namespace tk::be
