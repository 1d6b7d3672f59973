// SPDX-License-Identifier: MIT
// 32 numbers a lane in flight: 1.00 of a copy on an H200 (sm_90a, 7168 x 4096, 2026-11-28). Other
// sizes have not been tried, nor has the code of sm_80.
#pragma once
#include "ops/quantise/tuning.hpp"

namespace tk::be {

constexpr quantise_squares_tuning tune_quantise_squares() { return {.workers = 4, .per_unit = 2}; }

}  // namespace tk::be
