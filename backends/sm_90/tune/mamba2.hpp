// SPDX-License-Identifier: MIT
// Two workers have a usual head of 64 columns each; a gate lies in each slot. On an H100 three
// workers reach 0.71 of it at d 64, and segments of 8 chunks are slower from 8192 tokens on. Four
// workers of 32 columns that share weights in twos take 1.2 of the time at d 64, 1.33 at d 128
// (H200, 2026-11-26): their products read as much of shared memory for half the columns.
#pragma once
#include "ops/linear_attention/tuning.hpp"

namespace tk::be {

constexpr linear_attention_tuning tune_mamba2(int d) {
  if (d <= 64)
    return {.workers = 2,
            .C = 64,
            .P = 64,
            .slots = 5,
            .segment = 16,
            .together = true,
            .sum_slots = 6,
            .readers = 3,
            .gated_slots = 4};
  if (d <= 128)
    return {.workers = 2,
            .C = 64,
            .P = 64,
            .slots = 4,
            .segment = 16,
            .together = false,
            .sum_slots = 5,
            .readers = 3,
            .gated_slots = 3,
            .lends = true};
  return {
      .workers = 2, .C = 64, .P = 32, .slots = 2, .segment = 16, .together = false, .readers = 2};
}

// Of three workers each has 160 registers a lane, too few for 128 accumulators.
constexpr mamba2_gradients_tuning tune_mamba2_gradients(int d) {
  if (d <= 64) return {.P = 64, .slots = 4, .together = true};
  if (d <= 128) return {.P = 64, .slots = 3, .together = true};
  return {.P = 32, .slots = 3, .together = false};
}

}  // namespace tk::be
