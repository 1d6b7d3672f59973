// SPDX-License-Identifier: MIT
// Sums of segments: two workers with a usual head of 64 columns each. Outputs: at d 64 a keeper and
// three readers of 112 registers a lane, at d 128 the keeper has 160 and readers 96, of four slots
// with room for no gate. There two readers, and a keeper that weighs values itself, take 1.25 of
// the time, two keepers with half of the state's rows each 1.07. A chunk of d 128 moves 200 KB
// through shared memory, 0.75 of what the multiprocessor can (H200, 2026-11-27). By samples the
// keeper is busy all the time, with 330 instructions in 2090 cycles a chunk, and so is each reader,
// with 700 in 5840: they wait for barriers, fences and one another's turn to issue. So a shorter
// chain of the keeper alone gains nothing, and less memory little: the state transposed, which
// moves 160 to 190 KB, takes 0.97 to 1.12 of the time (2026-11-28).
// Two heads a block that share q k^T, whose transposed states are left operands in registers and
// never go through shared memory, with a third worker who makes the weights of both, take 1840
// cycles for a head's chunk in place of 2260; the third one is the slowest, 620 instructions in
// 3680. But they are half as many tasks. Cut into segments, 80 heads of 8192 tokens take 196 us in
// place of 165: sums of segments and their states cost more than is saved (2026-11-29).
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
