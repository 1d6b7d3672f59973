// SPDX-License-Identifier: MIT
// For 64 KB of LDS, and for 160 KB (`roomy`); not measured on a card.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/linear_attention/tuning.hpp"

namespace tk::be {

inline constexpr int chunk_workers = smem_bytes >= 160 * 1024 ? 3 : 1;

constexpr linear_attention_tuning tune_linear_attention(int d) {
  constexpr bool roomy = smem_bytes >= 160 * 1024;
  if (d <= 64) return {.workers = 4, .C = 32, .P = 16, .slots = 2, .segment = 32, .together = true};
  if (d <= 128)
    return {
        .workers = roomy ? 4 : 2, .C = 32, .P = 16, .slots = 2, .segment = 32, .together = true};
  return {.workers = 1, .C = 16, .P = 16, .slots = roomy ? 4 : 2, .segment = 64, .together = true};
}

}  // namespace tk::be
