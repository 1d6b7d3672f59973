// SPDX-License-Identifier: MIT
// Not measured. A row is one thread's.
#pragma once
#include "ops/topk/tuning.hpp"

namespace tk::be {

constexpr topk_tuning tune_topk() { return {.workers = 1, .per_unit = 0, .chunks = 4}; }
constexpr topk_short_tuning tune_topk_short() { return {.workers = 1, .per_unit = 0, .most = 16}; }

}  // namespace tk::be
