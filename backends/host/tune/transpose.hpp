// SPDX-License-Identifier: MIT
// Measured on a Xeon with AVX-512: of 2 bytes, 64 rows write lines of which rows at odd
// places leave half unwritten (0.3 of a copy's speed; 128 rows: 0.5, of whole lines 0.6).
#pragma once
#include "ops/transpose/tuning.hpp"

namespace tk::be {

constexpr transpose_tuning tune_transpose(int element_bytes) {
  return {.workers = 1,
          .R = element_bytes == 4 ? 64 : 128,
          .C = element_bytes == 4 ? 64 : 128,
          .per_unit = 0};
}

}  // namespace tk::be
