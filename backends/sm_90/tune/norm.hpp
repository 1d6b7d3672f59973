// SPDX-License-Identifier: MIT
// Measured on an H200 (132 SMs, CUDA 13.0).
#pragma once
#include "ops/norm/tuning.hpp"

namespace tk::be {

// Rows of up to 128 columns are ordinary tiles; up to 4096 columns a worker has rows of its own, 32
// or 64 numbers in a lane; longer rows are shared. Four workers with half as many rows each wait
// less for one another's sums than two. More loads on their way than memory needs cost time, but
// long rows stay in the ring from pass to pass.
inline constexpr int norm_classes = 9, norm_tasks_per_unit = 1;
inline constexpr bool norm_in_turn = true;
constexpr bool norm_shifts(int c) { return c == 2 || c == 4 || c >= 7; }
constexpr norm_tuning tune_norm(int c, int element_bytes) {
  constexpr int most_ring_bytes = 192 * 1024;
  if (c == 0)
    return {.workers = 2,
            .R = 64,
            .N = 128,
            .stages = 2,
            .hold = element_bytes == 2 ? 2 : 0,
            .shared = false};
  bool const shared = c > 5, own = c >= 3 && !shared;
  int const workers = own || c == 7 || c == 8 ? 4 : 2;
  int const columns[] = {128, 256, 512, 1024, 2048, 4096, 3072, 2048, 4096, 4096};
  int const n = columns[c], rows = shared ? 1 : own ? 4096 / n : 8;
  int const in_lane = n / (rows < 4 ? 128 : 32);
  int const ring = c < 8 && element_bytes == 2 ? 64 * 1024 : c == 3 ? 128 * 1024 : most_ring_bytes;
  bool const holds_fp32 = !own && in_lane <= (workers == 4 ? 16 : 32);
  return {.workers = workers,
          .R = rows,
          .N = n,
          .stages = ring / (workers * rows * n * element_bytes),
          .hold = c == norm_classes ? 0
                  : holds_fp32      ? 4
                                    : 2,
          .shared = shared};
}

}  // namespace tk::be
