// SPDX-License-Identifier: MIT
// Measured on a Xeon of the fourth generation (AVX-512, 48 KB L1, 2 MB L2 per core); small tiles
// and those of few rows on an EPYC of the fourth generation (AVX-512, 32 KB L1, 1 MB L2).
#pragma once
#include "ops/gemm/tuning.hpp"

namespace tk::be {

// What a step costs is guessed: small tiles take half as long again for each product. Those of the
// last size are for few rows, whose products read b where it lies (backends/host/few_rows.hpp): the
// longer the pieces of its rows, the faster memory is. On many cores there may be too few of them.
inline constexpr int gemm_sizes = 3;
constexpr gemm_tuning tune_gemm(int size) {
  gemm_tuning x{.down = 1,
                .across = 1,
                .M = 128,
                .N = 256,
                .K = 256,
                .stages = 2,
                .cluster = 1,
                .group = 8,
                .turns = false,
                .out_bytes = 128,
                .step_cost = 320};
  if (size == 1) x.M = 32, x.N = 128, x.step_cost = 60;
  if (size == 2) x.M = 16, x.N = 512, x.K = 512, x.step_cost = 440;
  return x;
}
inline constexpr bool gemm_sizes_alike = true;

inline constexpr int gemm_partial_cost = 0;
constexpr load_cost gemm_load_cost(std::int64_t) { return load_cost::none; }

constexpr repack_tuning tune_repack() { return {.workers = 1, .R = 16, .C = 512}; }

}  // namespace tk::be
