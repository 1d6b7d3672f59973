// SPDX-License-Identifier: MIT
// For chips with 64 K registers in a multiprocessor; measured on an H200 (132 SMs, CUDA 13.0).
#pragma once
#include TK_CHIP(arch.hpp)
#include "core/row_tuning.hpp"

namespace tk::be {

// Multiprocessors hold 1024 threads of 64 registers, or 512 of 128 where there are sums over rows:
// in workers, 8 or 4. Each has at most so many numbers of a row, of an op with several inputs
// fewer, so that loads of 64 bytes a lane are on their way.
constexpr int row_workers_per_unit(row_load of) { return of.sums > 0 ? 4 : 8; }
constexpr int row_numbers_of_lane(row_load of) {
  if (of.sums > 0) return 16;
  return of.inputs == 1 && of.held == 1 && of.element_bytes == 2 ? 32
         : of.element_bytes == 2 || (of.inputs == 1 && of.held == 1) ? 16 : 8;
}
// Classes 0 to 2: several rows of up to 32 << c columns abreast; then rows in a warp, of 256, 512
// and 1024 columns; then rows shared by workers who have a half, three quarters or all of a lane's
// numbers each, as far as these are runs of 8; then the longest, through the ring in pieces.
constexpr int row_warp_classes(row_load of) { return row_numbers_of_lane(of) == 32 ? 6 : 5; }
constexpr int row_shared_classes(row_load of) {
  int const n = row_numbers_of_lane(of);
  return n == 32 ? 3 : n == 16 ? 2 : 1;
}
constexpr int row_classes(row_load of) { return row_warp_classes(of) + row_shared_classes(of); }
inline constexpr bool lean_rows = true;
inline constexpr bool rows_in_turn = true;
constexpr int row_tasks_per_unit(std::int64_t width) {
  return width <= 2048 ? 4 : width <= 4096 ? 2 : 1;
}
constexpr bool rows_shift(int c, row_load of) { return c == 2 || c >= row_warp_classes(of) - 1; }
constexpr row_tuning tune_rows(int c, row_load of) {
  int const lane = row_numbers_of_lane(of), units = row_workers_per_unit(of);
  if (c == row_classes(of)) {
    constexpr int ring_bytes = (smem_bytes >= 227 * 1024   ? 192
                                : smem_bytes >= 163 * 1024 ? 128
                                                           : 64) *
                               1024;
    int const n = (of.element_bytes == 2 ? 4096 : 2048) / (of.held > 1 ? 2 : 1);
    return {.workers = 4,
            .R = 1,
            .N = n,
            .abreast = 1,
            .stages = ring_bytes / (4 * n * of.element_bytes),
            .hold = 0,
            .per_unit = 0,
            .shared = true};
  }
  if (int const warp_classes = row_warp_classes(of); c >= warp_classes) {
    int const part = lane == 32 ? 16 + 8 * (c - warp_classes) : lane == 16 ? 8 + 8 * (c - warp_classes) : 8;
    bool const half = units == 8 && (part > 16 || part < lane);
    int const workers = half ? 4 : units;
    return {.workers = workers,
            .R = 1,
            .N = worker_lanes * part,
            .abreast = 1,
            .stages = 0,
            .hold = of.sums > 0 ? 2 : 0,
            .per_unit = units / workers,
            .shared = true};
  }
  int const width = 32 << c, n = width < 256 ? 256 : width, in_lane = n / warp_lanes,
            rows = worker_warps * (lane / in_lane > 2 ? 2 : lane / in_lane > 1 ? lane / in_lane : 1);
  return {.workers = 1,
          .R = rows,
          .N = n,
          .abreast = n / width,
          .stages = 0,
          .hold = in_lane == 8 ? 4 : in_lane == 16 ? 2 : 0,
          .per_unit = units,
          .shared = false};
}

}  // namespace tk::be
