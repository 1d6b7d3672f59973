// SPDX-License-Identifier: MIT
// Measured with norm on a Xeon of the fourth generation (AVX-512, 48 KB L1, 2 MB L2 per core); lean
// kernels on an EPYC with AVX-512: RMSNorm of 4096 columns takes 0.63 of the time, LayerNorm 0.72.
// Between 128 and 8192 columns further classes gain nothing: passes end with the row
// (core/rows.hpp, pass_columns).
#pragma once
#include <cstdint>

#include "core/row_tuning.hpp"

namespace tk::be {

constexpr int row_tasks_per_unit(std::int64_t) { return 4; }
inline constexpr bool lean_rows = true;
inline constexpr bool moves_across = false;
inline constexpr bool writes_in_pairs = false;
inline constexpr bool rows_in_turn = false;
constexpr int row_classes(row_load) { return 2; }
constexpr int row_long_class(row_load of) { return row_classes(of); }
constexpr bool rows_shift(int, row_load) { return false; }
constexpr row_tuning tune_rows(int c, row_load) {
  constexpr int widths[] = {128, 8192, 8192};
  return {.workers = 1,
          .R = 1,
          .N = widths[c],
          .abreast = 1,
          .stages = 0,
          .hold = 4,
          .per_unit = 0,
          .shared = false};
}

}  // namespace tk::be
