// SPDX-License-Identifier: MIT
// Not tuned.
#pragma once
#include "ops/quantise/tuning.hpp"

namespace tk::be {

constexpr quantise_squares_tuning tune_quantise_squares() { return {.workers = 4, .per_unit = 2}; }

}  // namespace tk::be
