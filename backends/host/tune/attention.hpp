// SPDX-License-Identifier: MIT
// Measured on a Xeon of the fourth generation (AVX-512, 48 KB L1, 2 MB L2 per core).
#pragma once
#include "ops/attention/tuning.hpp"

namespace tk::be {

constexpr attention_tuning tune_attention_forward(int) {
  return {
      .workers = 1, .M = 128, .N = 128, .slots = 2, .own_slots = 1, .ahead = false, .turns = false};
}

constexpr attention_tuning tune_attention_general(int d) { return tune_attention_forward(d); }

constexpr attention_backward_tuning tune_attention_backward(int) {
  return {.workers = 1,
          .N = 128,
          .M = 128,
          .slices = 1,
          .parts = 1,
          .slots = 2,
          .ds_slots = 2,
          .group = 8};
}

constexpr attention_backward_tuning tune_attention_backward_general(int d) {
  return tune_attention_backward(d);
}

// With windows and packed sequences.
constexpr attention_tuning tune_attention_seen(int d) { return tune_attention_forward(d); }
constexpr attention_backward_tuning tune_attention_backward_seen(int d) {
  return tune_attention_backward(d);
}

}  // namespace tk::be
