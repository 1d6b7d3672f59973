// SPDX-License-Identifier: MIT
// For chips with 64 K registers in a multiprocessor; measured on an H200 (132 SMs, CUDA 13.0).
#pragma once
#include <cstdint>

#include TK_CHIP(arch.hpp)
#include "core/row_tuning.hpp"

namespace tk::be {

// Multiprocessors hold 1024 threads of 64 registers, or 512 of 128 where there are sums over rows,
// or numbers of rows, for whose sake fewer lanes should have more of a row: in workers, 8 or 4.
// Each lane has at most so many numbers of a row, runs of 8, of an op with several inputs fewer, so
// that loads of 64 bytes a lane are on their way. Three are held of results in fp8, whose scales
// are numbers of rows, and beside random bytes.
constexpr bool reads_one(row_load of) { return of.inputs == 1 && of.held == 1; }
constexpr int row_workers_per_unit(row_load of) {
  return of.sums > 0 || (of.values > 0 && (reads_one(of) || of.held > 2)) ? 4 : 8;
}
constexpr int row_numbers_of_lane(row_load of) {
  bool const one = reads_one(of);
  if (of.held > 2 && of.values > 0) return of.inputs == 1 ? 32 : 16;
  if (of.held > 2) return of.element_bytes == 2 ? 16 : 8;
  if (of.sums > 0) return 16;
  if (of.element_bytes == 2) return one ? 32 : of.inputs == 2 && of.held == 2 ? 24 : 16;
  return one ? 16 : 8;
}
// Classes 0 to 2: several rows of up to 32 << c columns abreast; then rows in a warp, with 8, 16,
// ... numbers a lane; then rows shared by workers, so, too; where a chip has clusters, by those of
// a cluster's blocks; then longer ones in pieces, that the rings of 1, 2, 4 or 8 blocks hold; then
// the longest.
constexpr int row_runs_of_lane(row_load of) { return row_numbers_of_lane(of) / 8; }
constexpr int row_warp_classes(row_load of) { return 3 + row_runs_of_lane(of); }
constexpr int row_block_classes(row_load of) { return row_warp_classes(of) + row_runs_of_lane(of); }
// What an op does for each row, where numbers of rows are read, is too much for so many lanes.
constexpr bool row_clusters(row_load of) { return max_cluster > 1 && of.values == 0; }
constexpr int row_long_class(row_load of) {
  return row_block_classes(of) + (row_clusters(of) ? 1 : 0);
}
// Rows that are read once need not stay. Beside values per column, which lanes read part by part,
// rings made RMSNorm of 16385 columns 1.3 times as fast, and of 50257 0.9 times.
constexpr bool row_rings(row_load of) {
  return max_cluster > 1 && of.vectors == 0 && of.outputs > 0 && reads_one(of) && !of.once;
}
constexpr int row_classes(row_load of) { return row_long_class(of) + (row_rings(of) ? 4 : 0); }
inline constexpr bool lean_rows = true;
inline constexpr bool moves_across = true;
inline constexpr bool writes_in_pairs = true;
inline constexpr bool rows_in_turn = true;
constexpr int row_tasks_per_unit(std::int64_t width) {
  return width <= 2048 ? 4 : width <= 4096 ? 2 : 1;
}
// Of workers that share rows, beside sums over rows: three inputs of 16 numbers, twice, would
// spill.
constexpr bool asks_ahead(row_load of, int in_lane) {
  return of.inputs < 3 || (in_lane == 8 && of.element_bytes == 2);
}
// Rows at any place: of a warp 128 columns and 16 numbers a lane, and all that are shared; but with
// sums over rows 8 in fp32 or of three inputs, and of clusters neither these nor 32 numbers a lane,
// since more would spill.
constexpr bool rows_shift(int c, row_load of) {
  bool const few = of.sums > 0 && (of.element_bytes == 4 || of.inputs > 2);
  int const most = few ? 8 : row_numbers_of_lane(of), first = row_warp_classes(of);
  if (c == 2 || c >= row_long_class(of)) return true;
  if (c >= row_block_classes(of)) return !few && most < 32;
  return c < first ? 8 * (c - 2) == (most < 16 ? most : 16) : 8 * (c - first + 1) <= most;
}
// Of rows that workers share values per column of 16 bits are held beside sums, and beside results
// in fp8, before whose scale a row is read twice.
constexpr bool holds_vectors(row_load of, int in_lane) {
  return of.element_bytes == 2 && (of.sums > 0 ? in_lane <= 16 : of.held > 2 && of.values > 0);
}
// Of other rows they are where these are short enough; not those of 16 bits beside 16 numbers of
// fp32, which would spill.
constexpr row_tuning tune_rows(int c, row_load of) {
  int const most = row_numbers_of_lane(of), units = row_workers_per_unit(of);
  if (int const first = row_long_class(of); c >= first) {
    bool const holds = c < row_classes(of), narrow = holds && c == first && of.element_bytes == 2;
    int const n = narrow ? 3072 : (of.element_bytes == 2 ? 4096 : 2048) / (of.held > 1 ? 2 : 1);
    int const ring_bytes = (narrow                     ? 216
                            : smem_bytes >= 227 * 1024 ? 192
                            : smem_bytes >= 163 * 1024 ? 128
                                                       : 64) *
                           1024;
    // Several blocks have several rows on their way through what computes: of cross-entropy 32000
    // columns that are read once 2.15, 2.94 and 3.29 TB/s by 1, 2 and 4 of them; with gradients,
    // where rows stay in a ring, 3.05, 3.54 and 3.78 by 1 of 4 workers, 2 of 2 and 2 of 3. There
    // 50257 columns are in 6 pieces of one block where these are narrow, 3.58, else in 3 of two
    // blocks, the last of which is nearly empty, 3.11; more columns are faster in wide ones. What
    // no ring holds stays in a whole one.
    int const blocks = of.outputs == 0    ? 4
                       : holds || of.once ? 2
                                          : 1,
              workers = blocks == 2 ? 3 : 4 / blocks;
    // Sums over rows lie in memory, which two rows at a time change half as often. A ring holds
    // rows half as long then: where there are clusters, those that are left are longer than any.
    int const rows = max_cluster > 1 && of.sums > 0 && n == 2048 ? 2 : 1;
    return {.workers = workers,
            .R = rows,
            .N = n / rows,
            .abreast = 1,
            .stages = ring_bytes / blocks / (workers * n * of.element_bytes),
            .hold = 0,
            .per_unit = 0,
            .shared = true,
            .cluster = holds ? 1 << (c - first) : 1,
            .blocks = blocks};
  }
  if (int const first = row_warp_classes(of); c >= first) {
    bool const clustered = c >= row_block_classes(of);
    int const in_lane = clustered ? most : 8 * (c - first + 1);
    // The last of a block takes rows of 8192 columns or more.
    bool const half = units == 8 && (clustered || in_lane < most || in_lane == 32);
    int const workers = half ? 4 : units, rows = in_lane == 8 && most > 8 ? 2 : 1;
    return {.workers = workers,
            .R = rows,
            .N = worker_lanes * in_lane,
            .abreast = 1,
            .stages = 0,
            .hold = holds_vectors(of, in_lane) ? 2 : 0,
            .per_unit = units / workers,
            .shared = true,
            .ahead = of.sums > 0 ? asks_ahead(of, in_lane)
                                 : of.inputs == 1 && (in_lane <= 24 || units == 4),
            .cluster = clustered ? max_cluster : 1,
            .fetch = true};
  }
  int const in_lane = c < 3 ? 8 : 8 * (c - 2), rows = in_lane == 8 && most > 8 ? 2 : 1;
  return {.workers = 1,
          .R = worker_warps * rows,
          .N = warp_lanes * in_lane,
          .abreast = c < 3 ? 8 >> c : 1,
          .stages = 0,
          .hold = in_lane == 8                             ? 4
                  : in_lane == 16 && of.element_bytes == 2 ? 2
                                                           : 0,
          .per_unit = units,
          .shared = false,
          .ahead = of.sums > 0 && of.inputs < 3,
          .fetch = c > 0};
}

}  // namespace tk::be
