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
//   Side by side: a chunk of two heads of d 128 takes 3900 cycles, 0.86 of a keeper's; each head's
// worker has 450 instructions in them, who makes the weights 560, and they wait for barriers,
// fences and their turn to issue, not for products (28 % of the time) or memory. Sums of four heads
// take 2200. Producers are not the limit: two of them for a slot's loads gain nothing. Fewer slots,
// and weights of two chunks in turn, take 1.1 of the time (2026-12-01). In quarters of 3900 cycles:
// what ops/linear_attention/scans.hpp counts when it cuts sequences.
#pragma once
#include "ops/linear_attention/tuning.hpp"

namespace tk::be {

constexpr linear_attention_tuning tune_mamba2(int d) {
  if (d <= 64)
    return {
        .workers = 2,
        .C = 64,
        .P = 64,
        .slots = 5,
        .segment = 16,
        .together = true,
        .sum_slots = 6,
        .readers = 3,
        .gated_slots = 4,
        .side = {
            .units = 2, .summers = 4, .slots = 5, .gated_slots = 4, .sum_slots = 5, .lent = 32}};
  if (d <= 128)
    return {
        .workers = 2,
        .C = 64,
        .P = 64,
        .slots = 4,
        .segment = 16,
        .together = false,
        .sum_slots = 5,
        .readers = 3,
        .gated_slots = 3,
        .lends = true,
        .side = {
            .units = 2, .summers = 4, .slots = 4, .gated_slots = 3, .sum_slots = 4, .lent = 32}};
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
