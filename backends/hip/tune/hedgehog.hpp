// SPDX-License-Identifier: MIT
// For 64 KB of LDS, and for 160 KB (`roomy`); not measured on a card.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/hedgehog/tuning.hpp"

namespace tk::be {

constexpr hedgehog_tuning tune_hedgehog() {
  constexpr bool roomy = smem_bytes >= 160 * 1024;
  return roomy ? hedgehog_tuning{.workers = 2, .P = 64, .slots = 4, .resident = false}
               : hedgehog_tuning{.workers = 1, .P = 64, .slots = 1, .resident = false};
}

}  // namespace tk::be
