// SPDX-License-Identifier: MIT
// The ring is measured with this code and norm on an H200 (CUDA 13.0), for chips with 163 KB of
// shared memory (`roomy`).
#pragma once
#include TK_CHIP(arch.hpp)
#include "core/row_tuning.hpp"

namespace tk::be {

// Up to 128 columns several rows lie abreast; up to 8192 (4096 in fp32) 64 numbers of a lane are
// whole rows, half as many where two of each element are held. Values per column stay where they
// are 64 registers at most, beside 64 of rows.
inline constexpr int row_tasks_per_unit = 1;
inline constexpr bool rows_in_turn = true;
constexpr int row_classes(int held) { return held > 1 ? 9 : 10; }
constexpr bool rows_shift(int c, int, int) { return c == 2 || c == 4 || c == 6 || c >= 8; }
constexpr row_tuning tune_rows(int c, int element_bytes, int held) {
  constexpr bool roomy = smem_bytes >= 163 * 1024;
  constexpr int ring_bytes = (roomy ? 128 : 64) * 1024;
  bool const two = held > 1;
  if (c < 3)
    return {.workers = 2,
            .R = two ? 4 : 8,
            .N = 256,
            .abreast = 8 >> c,
            .stages = 0,
            .hold = 4,
            .shared = false};
  bool const small = element_bytes == 2;
  if (two) {
    bool const shared = c > 6;
    int const n = !shared ? 32 << c : c > 7 && small ? 4096 : 2048;
    int const rows = shared ? 1 : n < 1024 ? 4 : 4096 / n;
    return {.workers = 2,
            .R = rows,
            .N = n,
            .abreast = 1,
            .stages = ring_bytes / (2 * rows * n * element_bytes),
            .hold = shared ? 0 : 2,
            .shared = shared};
  }
  bool const shared = c > 8 || (c == 8 && !small);
  int const n = c == 9 && small ? 8192 : shared ? 4096 : 32 << c;
  int const rows = shared ? 1 : n < 1024 ? 8 : 8192 / n, in_lane = n / (rows < 4 ? 128 : 32);
  int const hold = c >= 9 ? 0 : in_lane > 32 || (c == 7 && !small) ? 2 : 4;  // more would spill
  return {.workers = 2,
          .R = rows,
          .N = n,
          .abreast = 1,
          .stages = ring_bytes / (2 * rows * n * element_bytes),
          .hold = hold,
          .shared = shared};
}

}  // namespace tk::be
