// SPDX-License-Identifier: MIT
// For 163 KB of shared memory (`roomy`), measured with this code on an H200 (CUDA 13.0), and for
// 99 KB, not measured yet. What bounds them is shared memory's 128 bytes a clock. A warp that has r
// rows and N columns of a product reads 2 / r + 2 / N bytes for each multiplication (B once for its
// r rows, A once for its columns), and copies write 2 / rows + 2 / columns of the block's tile. The
// tensor cores of an A100 do 1024 multiplications a clock:
//   32 rows a warp, N = 64   q k^T 0.094, p v (p in registers) 0.063
//   16 rows a warp, N = 64   q k^T 0.156, p v 0.125
// At d 64 sixteen warps of 16 rows do more than eight of 32 all the same: 1.12 to 1.14 full, 1.19
// causal at 4096 keys, 1.44 at 1024. At d 128 twelve do not: 0.89 to 0.94 full, 1.02 to 1.06
// causal.
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
    return {
        .workers = 4, .M = 64, .N = 64, .slots = 8, .own_slots = 1, .ahead = false, .turns = false};
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
  if (d <= 64) tuning.workers = 2, tuning.M = 128;
  else if (d <= 128 && tuning.M == 128) tuning.N = 32, tuning.slots = 8;
  return tuning;
}

// For 99 KB, not measured.
constexpr attention_backward_tuning backward_of_own_keys(int d) {
  return {.workers = 1,
          .N = 64,
          .M = 64,
          .slices = 1,
          .parts = d <= 128 ? 1 : 4,
          .slots = d <= 64 ? 4 : 2,
          .ds_slots = 2,
          .group = 8};
}
// Each worker has keys of its own, and the dq of a slice.
constexpr attention_backward_tuning backward_by_slice(int N, int M, int slots) {
  return {.workers = 2,
          .N = N,
          .M = M,
          .slices = 2,
          .parts = 1,
          .slots = slots,
          .ds_slots = 2,
          .group = 32,
          .causal_group = 64,
          .dq_rows = 64,
          .dq_by_slice = true};
}
// All workers have the same keys.
constexpr attention_backward_tuning backward_of_same_keys(int N, int slots) {
  return {.workers = 2,
          .N = N,
          .M = 32,
          .slices = 2,
          .parts = 1,
          .slots = slots,
          .ds_slots = 2,
          .group = 32,
          .causal_group = 64,
          .dq_rows = 64,
          .same_keys = true};
}

// In place of 32 heads together, and 64 under a causal mask, 16 and 32: 0.93 and 0.87 (H200, d 128,
// 4096 keys). 32 rows of keys a warp at d 64, of 128 keys a worker and 32 queries: 1.01 to 1.06,
// but 700 bytes of spills on this chip. Of d 256 five slots fit.
constexpr attention_backward_tuning tune_attention_backward(int d) {
  constexpr bool roomy = smem_bytes >= 163 * 1024;
  if (!roomy) return backward_of_own_keys(d);
  if (d <= 64) return backward_by_slice(64, 64, 6);
  return d <= 128 ? backward_of_same_keys(128, 8) : backward_of_same_keys(64, 5);
}
// With all options, what spills least (ptxas 13.0): pieces of dq of all keys at d 64, and 64
// columns of dk and dv where a worker has its own keys, of which 128 spill more than 800 bytes.
constexpr attention_backward_tuning tune_attention_backward_general(int d) {
  auto tuning = tune_attention_backward(d);
  tuning.dq_by_slice = false;
  if (tuning.workers == 1 && d > 64 && d <= 128) tuning.parts = 2, tuning.slots *= 2;
  return tuning;
}

// With windows and packed sequences: in others' tiles their masks spill up to 1048 bytes.
constexpr attention_tuning tune_attention_seen(int d) { return tune_attention_general(d); }
constexpr attention_backward_tuning tune_attention_backward_seen(int d) {
  auto const tuning = tune_attention_backward(d);
  return tuning.workers == 1 ? tune_attention_backward_general(d) : tuning;
}

}  // namespace tk::be
