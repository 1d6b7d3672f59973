// SPDX-License-Identifier: MIT
// For 163 KB of shared memory (`roomy`), measured with this code on an H200 (CUDA 13.0), and for
// 99 KB, not measured yet. What bounds them is shared memory's 128 bytes a clock. A warp that has r
// rows and N columns of a product reads 2 / r + 2 / N bytes for each multiplication (B once for its
// r rows, A once for its columns), and copies write 2 / rows + 2 / columns of the block's tile. The
// tensor cores of an A100 do 1024 multiplications a clock:
//   32 rows a warp, N = 64   q k^T 0.094, p v (p in registers) 0.063
//   16 rows a warp, N = 64   q k^T 0.156, p v 0.125
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/attention/tuning.hpp"

namespace tk::be {

constexpr attention_tuning tune_attention_forward(int d) {
  constexpr bool roomy = smem_bytes >= 163 * 1024;
  if (!roomy) {
    if (d <= 64)
      return {.workers = 2,
              .M = 128,
              .N = 64,
              .slots = 8,
              .own_slots = 1,
              .ahead = false,
              .turns = false};
    if (d <= 128)
      return {.workers = 2,
              .M = 64,
              .N = 64,
              .slots = 4,
              .own_slots = 1,
              .ahead = false,
              .turns = false};
    return {
        .workers = 1, .M = 64, .N = 32, .slots = 4, .own_slots = 1, .ahead = false, .turns = false};
  }
  if (d <= 64)
    return {.workers = 2,
            .M = 128,
            .N = 128,
            .slots = 6,
            .own_slots = 1,
            .ahead = false,
            .turns = false};
  if (d <= 128)
    return {.workers = 2,
            .M = 128,
            .N = 64,
            .slots = 4,
            .own_slots = 1,
            .ahead = false,
            .turns = false};
  return {
      .workers = 2, .M = 64, .N = 64, .slots = 3, .own_slots = 1, .ahead = false, .turns = false};
}

// With options, tiles of more registers than these spill hundreds of bytes (ptxas 13.0).
constexpr attention_tuning tune_attention_general(int d) {
  auto tuning = tune_attention_forward(d);
  if (d <= 64) tuning.N = 64, tuning.slots = 8;
  else if (d <= 128 && tuning.M == 128) tuning.N = 32, tuning.slots = 8;
  return tuning;
}

// Not measured yet.
constexpr attention_backward_tuning tune_attention_backward(int d) {
  constexpr bool roomy = smem_bytes >= 163 * 1024;
  if (!roomy) {
    if (d <= 64)
      return {.workers = 1,
              .N = 64,
              .M = 64,
              .slices = 1,
              .parts = 1,
              .slots = 4,
              .ds_slots = 2,
              .group = 8};
    if (d <= 128)
      return {.workers = 1,
              .N = 64,
              .M = 64,
              .slices = 1,
              .parts = 1,
              .slots = 2,
              .ds_slots = 2,
              .group = 8};
    return {.workers = 1,
            .N = 64,
            .M = 64,
            .slices = 1,
            .parts = 4,
            .slots = 2,
            .ds_slots = 2,
            .group = 8};
  }
  if (d <= 64)
    return {.workers = 2,
            .N = 64,
            .M = 64,
            .slices = 2,
            .parts = 1,
            .slots = 6,
            .ds_slots = 2,
            .group = 8};
  if (d <= 128)
    return {.workers = 2,
            .N = 64,
            .M = 64,
            .slices = 1,
            .parts = 1,
            .slots = 4,
            .ds_slots = 2,
            .group = 8};
  return {.workers = 1,
          .N = 64,
          .M = 64,
          .slices = 1,
          .parts = 2,
          .slots = 4,
          .ds_slots = 2,
          .group = 8};
}

// With options, 64 columns of dk and dv: 128 spill more than 800 bytes (ptxas 13.0).
constexpr attention_backward_tuning tune_attention_backward_general(int d) {
  auto tuning = tune_attention_backward(d);
  int const parts = d <= 64 ? 1 : d <= 128 ? 2 : 4;
  if (d > 64 && tuning.workers == 2) tuning.slices = 2;  // whole panels of a part for each
  else tuning.slots *= parts / tuning.parts;
  tuning.parts = parts;
  return tuning;
}

// With windows and packed sequences: in others' tiles their masks spill up to 1048 bytes.
constexpr attention_tuning tune_attention_seen(int d) { return tune_attention_general(d); }
constexpr attention_backward_tuning tune_attention_backward_seen(int d) {
  return tune_attention_backward_general(d);
}

}  // namespace tk::be
