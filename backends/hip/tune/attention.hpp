// SPDX-License-Identifier: MIT
// For 64 KB of LDS, and for 160 KB (`roomy`) with one block on a compute unit, whose waves then
// have 512 registers each; not measured on a card. Registers do not suffice for tiles that keep the
// matrix cores busy at d 256.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/attention/tuning.hpp"

namespace tk::be {

constexpr attention_tuning tune_attention_forward(int d) {
  constexpr bool roomy = smem_bytes >= 160 * 1024;
  if (roomy) {
    if (d <= 64)
      return {.workers = 4,
              .M = 64,
              .N = 64,
              .slots = 6,
              .own_slots = 1,
              .ahead = false,
              .turns = false};
    if (d <= 128)
      return {.workers = 4,
              .M = 64,
              .N = 64,
              .slots = 4,
              .own_slots = 1,
              .ahead = false,
              .turns = false};
    return {
        .workers = 4, .M = 32, .N = 32, .slots = 4, .own_slots = 1, .ahead = false, .turns = false};
  }
  if (d <= 64)
    return {
        .workers = 4, .M = 32, .N = 64, .slots = 4, .own_slots = 1, .ahead = false, .turns = false};
  if (d <= 128)
    return {
        .workers = 4, .M = 32, .N = 32, .slots = 3, .own_slots = 1, .ahead = false, .turns = false};
  return {
      .workers = 4, .M = 16, .N = 16, .slots = 3, .own_slots = 1, .ahead = false, .turns = false};
}

constexpr attention_tuning tune_attention_general(int d) { return tune_attention_forward(d); }

// Not measured.
constexpr attention_backward_tuning tune_attention_backward(int d) {
  constexpr bool roomy = smem_bytes >= 160 * 1024;
  if (roomy) {
    if (d <= 64)
      return {.workers = 4,
              .N = 32,
              .M = 32,
              .slices = 4,
              .parts = 1,
              .slots = 4,
              .ds_slots = 2,
              .group = 8};
    if (d <= 128)
      return {.workers = 4,
              .N = 32,
              .M = 32,
              .slices = 2,
              .parts = 1,
              .slots = 4,
              .ds_slots = 2,
              .group = 8};
    return {.workers = 4,
            .N = 16,
            .M = 16,
            .slices = 2,
            .parts = 2,
            .slots = 4,
            .ds_slots = 2,
            .group = 8};
  }
  if (d <= 64)
    return {.workers = 4,
            .N = 16,
            .M = 16,
            .slices = 4,
            .parts = 1,
            .slots = 4,
            .ds_slots = 2,
            .group = 8};
  if (d <= 128)
    return {.workers = 4,
            .N = 16,
            .M = 16,
            .slices = 2,
            .parts = 1,
            .slots = 4,
            .ds_slots = 2,
            .group = 8};
  return {.workers = 2,
          .N = 16,
          .M = 16,
          .slices = 1,
          .parts = 2,
          .slots = 4,
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
