// SPDX-License-Identifier: MIT
// Measured on a Xeon of the fourth generation (AVX-512, 48 KB L1, 2 MB L2 per core).
#pragma once
#include "ops/norm/tuning.hpp"

namespace tk::be {

inline constexpr int norm_classes = 4, norm_tasks_per_unit = 4;
inline constexpr bool norm_in_turn = false;
constexpr bool norm_shifts(int) { return false; }
constexpr norm_tuning tune_norm(int c, int) {
  constexpr int widths[] = {128, 1024, 4096, 8192, 8192};
  return {.workers = 1, .R = 1, .N = widths[c], .stages = 0, .hold = 4, .shared = false};
}

}  // namespace tk::be
