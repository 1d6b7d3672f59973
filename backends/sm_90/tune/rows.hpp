// SPDX-License-Identifier: MIT
// Measured on an H200 (132 SMs, CUDA 13.0) with norm: rows of 256 columns and more, one number of
// each element held.
#pragma once
#include "core/row_tuning.hpp"

namespace tk::be {

// Up to 128 columns several rows lie abreast; up to 4096 columns a worker has rows of its own, 32
// or 64 numbers in a lane, half as many where two of each element are held; longer rows are shared.
// Four workers with half as many rows each wait less for one another's sums than two. More loads on
// their way than memory needs cost time, but long rows stay in the ring from pass to pass.
inline constexpr int row_tasks_per_unit = 1;
inline constexpr bool rows_in_turn = true;
constexpr int row_classes(int held) { return held > 1 ? 10 : 11; }
constexpr bool rows_shift(int c, int element_bytes, int held) {
  int const last = row_classes(held);
  return c == 2 || c == 4 || c == 6 || c == 9 || c >= last - (element_bytes == 2);
}
constexpr row_tuning tune_rows(int c, int element_bytes, int held) {
  constexpr int most_ring_bytes = 192 * 1024;
  if (c < 3)
    return {.workers = 4,
            .R = held > 1 ? 4 : 8,
            .N = 256,
            .abreast = 8 >> c,
            .stages = 0,
            .hold = 4,
            .shared = false};
  bool const two = held > 1, shared = c > (two ? 6 : 7), own = c >= 5 && !shared;
  bool const wide = two && c == 9 && element_bytes == 4;  // 2048 for each of four would spill
  int const workers = own || (c >= 9 && !wide) ? 4 : 2;
  constexpr int columns[] = {256, 512, 1024, 2048, 4096, 3072, 2048, 4096, 4096},
                fewer[] = {256, 512, 1024, 2048, 2048, 3072, 2048, 2048};
  bool const last = c == row_classes(held);
  int const n = wide ? 3072 : two ? fewer[c - 3] : columns[c - 3] >> (last && element_bytes == 4);
  int const rows = shared ? 1 : own ? (two ? 2048 : 4096) / n : two ? 4 : 8;
  int const in_lane = n / (rows < 4 ? 128 : 32);
  int const ring = c < 10 && element_bytes == 2 ? 64 * 1024 : c == 5 ? 128 * 1024 : most_ring_bytes;
  bool const holds_fp32 = !own && in_lane <= (workers == 4 ? 16 : 32);
  return {.workers = workers,
          .R = rows,
          .N = n,
          .abreast = 1,
          .stages = ring / (workers * rows * n * element_bytes),
          .hold = c == 5 || last || (two && workers == 4) ? 0
                  : holds_fp32                            ? 4
                                                          : 2,
          .shared = shared};
}

}  // namespace tk::be
