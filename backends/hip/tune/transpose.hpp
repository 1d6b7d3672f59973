// SPDX-License-Identifier: MIT
// Not measured on a card.
#pragma once
#include "ops/transpose/tuning.hpp"

namespace tk::be {

constexpr transpose_tuning tune_transpose(int element_bytes) {
  return {.workers = 4,
          .R = element_bytes == 4 ? 32 : 64,
          .C = element_bytes == 1 ? 128 : 64,
          .per_unit = 0};
}

}  // namespace tk::be
