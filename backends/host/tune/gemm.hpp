// SPDX-License-Identifier: MIT
// Measured on a Xeon of the fourth generation (AVX-512, 48 KB L1, 2 MB L2 per core); small tiles on
// an EPYC with AVX-512: one row by 4096 x 4096 takes 0.7 of the time of tiles of 32 x 64 x 128.
#pragma once
#include "ops/gemm/tuning.hpp"

namespace tk::be {

// What a step costs is guessed: small tiles take half as long again for each product.
inline constexpr int gemm_sizes = 2;
constexpr gemm_tuning tune_gemm(int size) {
  return size == 0 ? gemm_tuning{.down = 1,
                                 .across = 1,
                                 .M = 128,
                                 .N = 256,
                                 .K = 256,
                                 .stages = 2,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 128,
                                 .step_cost = 320}
                   : gemm_tuning{.down = 1,
                                 .across = 1,
                                 .M = 32,
                                 .N = 128,
                                 .K = 256,
                                 .stages = 2,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 128,
                                 .step_cost = 60};
}
inline constexpr bool gemm_sizes_alike = true;

inline constexpr int gemm_partial_cost = 0;
constexpr load_cost gemm_load_cost(std::int64_t) { return load_cost::none; }

constexpr repack_tuning tune_repack() { return {.workers = 1, .R = 16, .C = 512}; }

}  // namespace tk::be
