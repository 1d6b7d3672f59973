// SPDX-License-Identifier: MIT
// As linear attention, with room for a gate in each slot; not measured yet.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/linear_attention/tuning.hpp"

namespace tk::be {

constexpr linear_attention_tuning tune_mamba2(int d) {
  constexpr bool roomy = smem_bytes >= 163 * 1024;
  if (d <= 64)
    return {
        .workers = 2, .C = 64, .P = 32, .slots = roomy ? 3 : 2, .segment = 16, .together = true};
  if (d <= 128)
    return {
        .workers = roomy ? 2 : 1, .C = 64, .P = 32, .slots = 2, .segment = 16, .together = true};
  return {.workers = 1, .C = 64, .P = 32, .slots = 1, .segment = 16, .together = true};
}

constexpr mamba2_gradients_tuning tune_mamba2_gradients(int d) {
  constexpr bool roomy = smem_bytes >= 163 * 1024;
  if (d <= 64) return {.P = 32, .slots = roomy ? 4 : 3, .together = false};
  if (d <= 128) return {.P = 32, .slots = roomy ? 3 : 2, .together = false};
  return {.P = 16, .slots = roomy ? 2 : 1, .together = false};
}

}  // namespace tk::be
