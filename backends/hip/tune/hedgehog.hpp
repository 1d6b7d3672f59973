// SPDX-License-Identifier: MIT
// For 64 KB of LDS, where one wave has 32 columns; and for 160 KB (`roomy`), where two waves share
// the features: 64 columns each, whole panels of v, for which one spills 17 registers. Not measured
// on a card.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/hedgehog/tuning.hpp"

namespace tk::be {

constexpr hedgehog_tuning tune_hedgehog() {
  constexpr bool roomy = smem_bytes >= 160 * 1024;
  return roomy ? hedgehog_tuning{.workers = 2, .P = 64, .slots = 2, .resident = false}
               : hedgehog_tuning{.workers = 1, .P = 32, .slots = 1, .resident = false};
}

constexpr hedgehog_backward_tuning tune_hedgehog_backward() {
  return {.workers = 1, .slots = 2, .resident = false};
}

}  // namespace tk::be
