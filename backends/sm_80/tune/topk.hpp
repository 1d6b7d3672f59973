// SPDX-License-Identifier: MIT
// Not tuned: on an H100 vocabularies reach 0.05 to 0.6 of a copy, routers 0.2 to 0.8.
#pragma once
#include "ops/topk/tuning.hpp"

namespace tk::be {

constexpr topk_tuning tune_topk() { return {.workers = 4, .per_unit = 3, .chunks = 4}; }
constexpr topk_short_tuning tune_topk_short() { return {.workers = 1, .per_unit = 8, .most = 16}; }

}  // namespace tk::be
