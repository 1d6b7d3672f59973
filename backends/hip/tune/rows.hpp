// SPDX-License-Identifier: MIT
// Not measured on a card.
#pragma once
#include <cstdint>

#include "core/row_tuning.hpp"

namespace tk::be {

constexpr int row_tasks_per_unit(std::int64_t) { return 1; }
inline constexpr bool lean_rows = false;
inline constexpr bool moves_across = false;
inline constexpr bool writes_in_pairs = false;
inline constexpr bool rows_in_turn = true;
constexpr int row_classes(row_load of) { return of.held > 1 ? 7 : 9; }
constexpr int row_long_class(row_load of) { return row_classes(of); }
constexpr bool rows_shift(int c, row_load of) {
  return c == 1 || c == 4 || c >= row_classes(of) - 1;
}
// Rows of a worker to 2048 columns, half as many where two numbers of each element are held; longer
// ones are shared. More would spill.
constexpr row_tuning tune_rows(int c, row_load of) {
  bool const two = of.held > 1;
  if (c < 4)  // 32 to 256 columns
    return {.workers = 8,
            .R = two ? 2 : 4,
            .N = 512,
            .abreast = 16 >> c,
            .stages = 0,
            .hold = 2,
            .per_unit = 0,
            .shared = false};
  if (c < (two ? 6 : 7))
    return {.workers = 8,
            .R = (two ? 2 : 4) >> (c - 4),
            .N = 512 << (c - 4),
            .abreast = 1,
            .stages = 0,
            .hold = c < 6 ? 2 : 0,
            .per_unit = 0,
            .shared = false};
  bool const narrow = c == row_classes(of) && of.sums > 0 && of.element_bytes == 4;
  return {.workers = 8,
          .R = 1,
          .N = narrow          ? 512
               : two || c == 7 ? 1024
                               : 2048,
          .abreast = 1,
          .stages = 0,
          .hold = 0,
          .per_unit = 0,
          .shared = true};
}

}  // namespace tk::be
