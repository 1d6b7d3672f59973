// SPDX-License-Identifier: MIT
// Not measured on a card.
#pragma once
#include "ops/norm/tuning.hpp"

namespace tk::be {

inline constexpr int norm_classes = 6, norm_tasks_per_unit = 1;
inline constexpr bool norm_in_turn = true;
constexpr bool norm_shifts(int) { return false; }
constexpr norm_tuning tune_norm(int c, int element_bytes) {
  if (c == 0)
    return {
        .workers = 8 / element_bytes, .R = 16, .N = 128, .stages = 2, .hold = 2, .shared = false};
  // More would spill.
  if (c < 5)
    return {.workers = 8,
            .R = c == 3 ? 1 : 16 >> c,
            .N = 256 << c,
            .stages = 0,
            .hold = c < 3 ? 2 : 0,
            .shared = false};
  return {.workers = 8,
          .R = 1,
          .N = c == norm_classes && element_bytes == 4 ? 2048 : 4096,
          .stages = 0,
          .hold = 0,
          .shared = true};
}

}  // namespace tk::be
