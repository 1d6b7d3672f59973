// SPDX-License-Identifier: MIT
// Tile sizes by op, measured on a Xeon of the fourth generation (AVX-512, 48 KB L1, 2 MB L2 per
// core).
#pragma once
#include "backends/host/arch.hpp"
#include "ops/tuning.hpp"

namespace tk::be {

// What a step costs is guessed: small tiles take half as long again for each product.
inline constexpr int gemm_sizes = 2;
constexpr gemm_tuning tune_gemm(int size) {
  return size == 0 ? gemm_tuning{1, 1, 128, 256, 256, 2, 1, 8, false, 128, 320}
                   : gemm_tuning{1, 1, 32, 64, 128, 2, 1, 8, false, 128, 15};
}

// Tiles are never cut along k: what that would cost, in steps.
inline constexpr int gemm_parking_cost = 0;

// What rows that lie so many bytes apart cost their loads.
constexpr load_cost gemm_load_cost(std::int64_t) { return load_cost::none; }

constexpr repack_tuning tune_repack() { return {1, 16, 512}; }

constexpr attention_tuning tune_attention_forward(int) { return {1, 128, 128, 2, 1, false, false}; }

inline constexpr int norm_classes = 4, norm_tasks_per_unit = 4;
inline constexpr bool norm_in_turn = false;
constexpr bool norm_shifts(int) { return false; }
constexpr norm_tuning tune_norm(int c, int) {
  constexpr int widths[] = {128, 1024, 4096, 8192, 8192};
  return {1, 1, widths[c], 0, 4, false};
}

}  // namespace tk::be
