// SPDX-License-Identifier: MIT
// Not measured on a card. Tiles of 8 KB: 64 KB of a multiprocessor are on their way at a time.
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
