// SPDX-License-Identifier: MIT
// Measured on an H200 (132 SMs, CUDA 13.0).
#pragma once
#include "ops/attention/tuning.hpp"

namespace tk::be {

// Tiles of a worker, with two of weights: at most 192 registers a lane. Turns at d 64 cost 1 %; two
// workers of 128 keys there are 3 to 8 % faster up to 1024 keys under a causal mask, and 8 to 20 %
// slower from 4096 on. 80 keys at d 256 are 1 % faster at 16384 and 1 to 7 % slower at 512.
constexpr attention_tuning tune_attention_forward(int d) {
  if (d <= 64)
    return {
        .workers = 3, .M = 64, .N = 96, .slots = 12, .own_slots = 2, .ahead = true, .turns = false};
  if (d <= 96)
    return {
        .workers = 2, .M = 64, .N = 128, .slots = 7, .own_slots = 2, .ahead = true, .turns = true};
  if (d <= 128)
    return {
        .workers = 2, .M = 64, .N = 128, .slots = 5, .own_slots = 2, .ahead = true, .turns = true};
  if (d <= 192)
    return {
        .workers = 2, .M = 64, .N = 96, .slots = 4, .own_slots = 1, .ahead = true, .turns = true};
  return {
      .workers = 2, .M = 64, .N = 64, .slots = 5, .own_slots = 1, .ahead = true, .turns = false};
}

constexpr attention_tuning tune_attention_general(int d) { return tune_attention_forward(d); }

// dq has a launch of its own. Both have 192 registers of tiles at d 256. 48 keys and four slots in
// that of dq, in place of 64 and three: 0.98 (H200, d 256).
constexpr attention_backward_tuning dq_apart(attention_queries_tuning queries, int slots) {
  return {.workers = 2,
          .N = 64,
          .M = 64,
          .slices = 2,
          .parts = 1,
          .slots = slots,
          .ds_slots = 2,
          .group = 8,
          .queries = queries};
}

// As in the forward, 192 registers of tiles: dk and dv of 128 columns, and 64 x 64 scores twice,
// or, at d 64, 64 x 128: in place of two slices of 64 queries 1.02 to 1.07 from 1024 keys on. 8, 16
// and 32 heads dealt together (H200, 4096 keys): d 128 causal 465, 500, 519 TFLOP/s, full 573, 571,
// 544; full at d 64 498, 501, 481. 64 heads beside 32, causal: d 128 0.96 to 1.00; d 64 0.96 to
// 0.99 from 4096 keys on, but 1.10 where heads have few blocks of keys and 256 tasks are dealt
// together in place of 512. One sender in place of two: 0.76 to 0.93. dp late: d 64 1.03 to 1.09,
// since then nothing spills and lanes keep their numbers, which they read anew in each step
// before; d 128, which has room for both, 0.93 to 1.00. Rows of delta that are read under dp
// spill: 0.91 to 0.97. Blocks of keys from the last one on, of which none waits for another under
// a causal mask: d 64 0.73 to 1.02, d 128 0.61 to 0.96, since the longest tasks come last and
// blocks that run at a time share less of what is read (H200, 2026-11-30).
constexpr attention_backward_tuning tune_attention_backward(int d) {
  if (d <= 64)
    return {.workers = 2,
            .N = 64,
            .M = 128,
            .slices = 1,
            .parts = 1,
            .slots = 5,
            .ds_slots = 2,
            .group = 8,
            .causal_group = 32,
            .causal_together = 512,
            .dq_rows = 64,
            .senders = 2,
            .dp_late = true};
  if (d <= 128)
    return {.workers = 2,
            .N = 64,
            .M = 64,
            .slices = 1,
            .parts = 1,
            .slots = 5,
            .ds_slots = 2,
            .group = 8,
            .causal_group = 32,
            .senders = 2};
  return dq_apart({.workers = 2, .M = 64, .N = 64, .slots = 3}, 4);
}

// From d 128 on dk, dv and dq in one launch leave no registers for what changes scores, and at d 64
// with 128 queries at once.
constexpr attention_backward_tuning tune_attention_backward_general(int d) {
  if (d <= 64) {
    auto tuning = tune_attention_backward(d);
    tuning.M = 64, tuning.slices = 2, tuning.slots = 6, tuning.ds_slots = 3;
    tuning.dp_late = false;
    return tuning;
  }
  if (d <= 128) return dq_apart({.workers = 2, .M = 64, .N = 64, .slots = 8}, 8);
  return tune_attention_backward(d);
}

// With windows and packed sequences.
constexpr attention_tuning tune_attention_seen(int d) { return tune_attention_forward(d); }
constexpr attention_backward_tuning tune_attention_backward_seen(int d) {
  return tune_attention_backward(d);
}

}  // namespace tk::be
