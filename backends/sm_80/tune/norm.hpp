// SPDX-License-Identifier: MIT
// The ring is measured with this code on an H200 (CUDA 13.0), for chips with 163 KB of shared
// memory (`roomy`).
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/norm/tuning.hpp"

namespace tk::be {

// Rows of up to 128 columns are ordinary tiles; up to 8192 (4096 in fp32) 64 numbers of a lane are
// whole rows. Weights stay where they are 64 registers at most, beside 64 of rows.
inline constexpr int norm_classes = 8, norm_tasks_per_unit = 1;
inline constexpr bool norm_in_turn = true;
constexpr bool norm_shifts(int c) { return c == 2 || c == 4 || c >= 6; }
constexpr norm_tuning tune_norm(int c, int element_bytes) {
  constexpr bool roomy = smem_bytes >= 163 * 1024;
  constexpr int ring_bytes = (roomy ? 128 : 64) * 1024;
  if (c == 0)
    return {.workers = element_bytes == 2 ? 2 : 1,
            .R = 64,
            .N = 128,
            .stages = 2,
            .hold = 2,
            .shared = false};
  bool const small = element_bytes == 2, shared = c > 6 || (c == 6 && !small);
  int const n = c == 7 && small ? 8192 : shared ? 4096 : 128 << c;
  int const rows = shared ? 1 : n < 1024 ? 8 : 8192 / n, in_lane = n / (rows < 4 ? 128 : 32);
  int const hold = c >= 7 ? 0 : in_lane > 32 || (c == 5 && !small) ? 2 : 4;  // more would spill
  return {.workers = 2,
          .R = rows,
          .N = n,
          .stages = ring_bytes / (2 * rows * n * element_bytes),
          .hold = hold,
          .shared = shared};
}

}  // namespace tk::be
