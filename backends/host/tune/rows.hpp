// SPDX-License-Identifier: MIT
// Measured with norm on a Xeon of the fourth generation (AVX-512, 48 KB L1, 2 MB L2 per core).
#pragma once
#include "core/row_tuning.hpp"

namespace tk::be {

inline constexpr int row_tasks_per_unit = 4;
inline constexpr bool rows_in_turn = false;
constexpr int row_classes(int) { return 4; }
constexpr bool rows_shift(int, int, int) { return false; }
constexpr row_tuning tune_rows(int c, int, int) {
  constexpr int widths[] = {128, 1024, 4096, 8192, 8192};
  return {
      .workers = 1, .R = 1, .N = widths[c], .abreast = 1, .stages = 0, .hold = 4, .shared = false};
}

}  // namespace tk::be
