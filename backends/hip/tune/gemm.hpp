// SPDX-License-Identifier: MIT
// For 64 KB of LDS, and for 160 KB (`roomy`) with one block on a compute unit, whose waves then
// have 512 registers each; not measured on a card. LDS gives 64 numbers of 16 bits a clock and the
// matrix cores do 2048 products (CDNA 4 white paper): from 32 products a number on, which are M N /
// (M + N), they are kept busy.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/gemm/tuning.hpp"

namespace tk::be {

// What a step costs is guessed.
inline constexpr int gemm_sizes = 2;
constexpr gemm_tuning tune_gemm(int size) {
  constexpr bool roomy = smem_bytes >= 160 * 1024;
  if (roomy)
    return size == 0 ? gemm_tuning{.down = 4,
                                   .across = 1,
                                   .M = 64,
                                   .N = 128,
                                   .K = 32,
                                   .stages = 3,
                                   .cluster = 1,
                                   .group = 8,
                                   .turns = false,
                                   .out_bytes = 128,
                                   .step_cost = 100}
                     : gemm_tuning{.down = 4,
                                   .across = 1,
                                   .M = 32,
                                   .N = 64,
                                   .K = 64,
                                   .stages = 4,
                                   .cluster = 1,
                                   .group = 8,
                                   .turns = false,
                                   .out_bytes = 128,
                                   .step_cost = 55};
  return size == 0 ? gemm_tuning{.down = 4,
                                 .across = 1,
                                 .M = 32,
                                 .N = 128,
                                 .K = 16,
                                 .stages = 3,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 128,
                                 .step_cost = 100}
                   : gemm_tuning{.down = 4,
                                 .across = 1,
                                 .M = 16,
                                 .N = 64,
                                 .K = 32,
                                 .stages = 4,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 128,
                                 .step_cost = 55};
}
// Tall tiles take matrix instructions that add fewer products at once.
inline constexpr bool gemm_sizes_alike = false;

inline constexpr int gemm_partial_cost = 0;

// Without the widest copies to LDS much.
constexpr load_cost gemm_load_cost(std::int64_t bytes) {
  return bytes % copy_lane_bytes != 0 ? load_cost::high : load_cost::none;
}

constexpr repack_tuning tune_repack() { return {.workers = 4, .R = 8, .C = 512}; }

}  // namespace tk::be
