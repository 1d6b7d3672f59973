// SPDX-License-Identifier: MIT
// Not measured yet.
#pragma once
#include "ops/linear_attention/tuning.hpp"

namespace tk::be {

inline constexpr int chunk_workers = 1;

constexpr linear_attention_tuning tune_linear_attention(int) {
  return {.workers = 1, .C = 64, .P = 64, .slots = 1, .segment = 16, .together = true};
}

}  // namespace tk::be
