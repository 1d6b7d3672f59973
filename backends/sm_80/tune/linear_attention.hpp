// SPDX-License-Identifier: MIT
// For 163 KB of shared memory (`roomy`) and for 99 KB; not measured yet.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/linear_attention/tuning.hpp"

namespace tk::be {

inline constexpr int chunk_workers = smem_bytes >= 163 * 1024 ? 3 : 1;

constexpr linear_attention_tuning tune_linear_attention(int d) {
  constexpr bool roomy = smem_bytes >= 163 * 1024;
  if (d <= 64) return {.workers = 2, .C = 64, .P = 32, .slots = 3, .segment = 16, .together = true};
  if (d <= 128)
    return roomy ? linear_attention_tuning{.workers = 2,
                                           .C = 64,
                                           .P = 64,
                                           .slots = 2,
                                           .segment = 16,
                                           .together = true,
                                           .met_slots = 1}
                 : linear_attention_tuning{
                       .workers = 1, .C = 64, .P = 32, .slots = 2, .segment = 16, .together = true};
  return {.workers = 1,
          .C = 64,
          .P = 32,
          .slots = roomy ? 2 : 1,
          .segment = 16,
          .together = true,
          .met_slots = 1};
}

}  // namespace tk::be
