// SPDX-License-Identifier: MIT
// Measured on an H200 (132 SMs, CUDA 13.0).
#pragma once
#include "ops/gemm/tuning.hpp"

namespace tk::be {

// Turns bring 0.8 % at 4096 cubed; two blocks that share what they load of b, 4 % where the card's
// power is what bounds it; 192 columns a quarter where 256 would leave that much of the card idle
// (1000 x 3000 x 8192, 1536 cubed). The low ones are for few rows, where b is read once: with 128 k
// a step, since a step costs 0.3 us however small it is (0.94 to 1.02 of cuBLAS at up to 64 x 14336
// x 4096, where tiles of 128 rows reach 0.72 to 0.95).
inline constexpr gemm_tuning gemm_tiles[] = {
    {.down = 2,
     .across = 1,
     .M = 64,
     .N = 256,
     .K = 64,
     .stages = 4,
     .cluster = 2,
     .group = 16,
     .turns = true,
     .out_bytes = 128,
     .step_cost = 100},
    {.down = 2,
     .across = 1,
     .M = 64,
     .N = 192,
     .K = 64,
     .stages = 4,
     .cluster = 1,
     .group = 16,
     .turns = true,
     .out_bytes = 64,
     .step_cost = 80},
    {.down = 2,
     .across = 1,
     .M = 64,
     .N = 128,
     .K = 64,
     .stages = 6,
     .cluster = 1,
     .group = 16,
     .turns = true,
     .out_bytes = 128,
     .step_cost = 61},
    {.down = 1,
     .across = 1,
     .M = 64,
     .N = 128,
     .K = 128,
     .stages = 4,
     .cluster = 1,
     .group = 16,
     .turns = false,
     .out_bytes = 128,
     .step_cost = 85},
    {.down = 1,
     .across = 1,
     .M = 64,
     .N = 32,
     .K = 128,
     .stages = 8,
     .cluster = 1,
     .group = 16,
     .turns = false,
     .out_bytes = 32,
     .step_cost = 60},
};
inline constexpr int gemm_sizes = 5;
constexpr gemm_tuning tune_gemm(int size) { return gemm_tiles[size]; }
inline constexpr bool gemm_sizes_alike = true;

// Cutting tiles along k brings 2 to 3 % at 8192 cubed, and costs more than it brings at 1024 cubed.
inline constexpr int gemm_partial_cost = 5;

// Nothing; a third of a large product, where TMA reads one sector more of each 128 bytes (H200,
// 3072 and 4096 cubed); far more, without TMA.
constexpr load_cost gemm_load_cost(std::int64_t bytes) {
  return bytes <= 0 || bytes % 16 != 0 ? load_cost::high
         : bytes % 32 != 0             ? load_cost::some
                                       : load_cost::none;
}

constexpr repack_tuning tune_repack() { return {.workers = 3, .R = 16, .C = 512}; }

}  // namespace tk::be
