// SPDX-License-Identifier: MIT
// As linear attention.
#pragma once
#include "ops/linear_attention/tuning.hpp"

namespace tk::be {

constexpr linear_attention_tuning tune_mamba2(int d) { return tune_linear_attention(d); }

constexpr mamba2_gradients_tuning tune_mamba2_gradients(int) {
  return {.P = 64, .slots = 1, .together = true};
}

}  // namespace tk::be
