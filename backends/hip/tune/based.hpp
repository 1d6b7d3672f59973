// SPDX-License-Identifier: MIT
// For 64 KB of LDS, and for 160 KB (`roomy`); not measured on a card.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/based/tuning.hpp"

namespace tk::be {

constexpr based_tuning tune_based() {
  constexpr bool roomy = smem_bytes >= 160 * 1024;
  return {.workers = roomy ? 4 : 2,
          .C = roomy ? 32 : 16,
          .P = 16,
          .slots = 2,
          .segment = roomy ? 32 : 64};
}

}  // namespace tk::be
