// SPDX-License-Identifier: MIT
// Two accumulators of a state, 64 registers each at d 128: 0.9 of an
// H100's copy rate. That the two share a head's weights takes 0.90 of the time at d 128, 1.02 at d
// 64 (H200, 2026-11-26). Other sizes have not been tried.
#pragma once
#include "ops/linear_attention/tuning.hpp"

namespace tk::be {

inline constexpr int chunk_workers = 4;

constexpr linear_attention_tuning tune_linear_attention(int d) {
  if (d <= 64)
    return {
        .workers = 2, .share = 2, .C = 64, .P = 32, .slots = 4, .segment = 16, .together = true};
  if (d <= 128)
    return {.workers = 2,
            .share = 2,
            .C = 64,
            .P = 64,
            .slots = 3,
            .segment = 16,
            .together = true,
            .sum_slots = 5,
            .met_slots = 2};
  return {.workers = 2, .share = 2, .C = 64, .P = 32, .slots = 2, .segment = 16, .together = false};
}

}  // namespace tk::be
