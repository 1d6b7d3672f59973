// SPDX-License-Identifier: MIT
// For 64 KB of LDS, and for 160 KB (`roomy`); with 64 columns a wave would spill. Not measured on a
// card.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/hedgehog/tuning.hpp"

namespace tk::be {

constexpr hedgehog_tuning tune_hedgehog() {
  constexpr bool roomy = smem_bytes >= 160 * 1024;
  return roomy ? hedgehog_tuning{.workers = 4, .P = 32, .slots = 2, .resident = false}
               : hedgehog_tuning{.workers = 1, .P = 32, .slots = 1, .resident = false};
}

constexpr hedgehog_backward_tuning tune_hedgehog_backward() {
  return {.workers = 1, .slots = 2, .resident = false};
}

}  // namespace tk::be
