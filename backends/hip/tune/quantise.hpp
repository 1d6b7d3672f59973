// SPDX-License-Identifier: MIT
// Not tuned.
#pragma once
#include "ops/quantise/tuning.hpp"

namespace tk::be {

constexpr quantise_squares_tuning tune_quantise_squares() { return {.workers = 2, .per_unit = 0}; }

}  // namespace tk::be
