// SPDX-License-Identifier: MIT
// Not measured.
#pragma once
#include "ops/topk/tuning.hpp"

namespace tk::be {

constexpr topk_tuning tune_topk() { return {.workers = 8, .per_unit = 0, .chunks = 4}; }

}  // namespace tk::be
