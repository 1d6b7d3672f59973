// SPDX-License-Identifier: MIT
// For 163 KB of shared memory (`roomy`), measured with this code on an H200 (CUDA 13.0), and for
// 99 KB, not measured yet. What bounds them is shared memory's 128 bytes a clock. A warp that has r
// rows and N columns of a product reads 2 / r + 2 / N bytes for each multiplication (B once for its
// r rows, A once for its columns), and copies write 2 / rows + 2 / columns of the block's tile. The
// tensor cores of an A100 do 1024 multiplications a clock:
//   64 x 64 a warp, 256 x 128 a block    0.063 + 0.023 = 0.086, 88 bytes a clock (69 %)
//   32 x 128 a warp, 256 x 128 a block   0.078 + 0.023 = 0.102, 104 bytes a clock (81 %)
// Those of chips with less room do half as much or less, so that 16 rows a warp are enough.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/gemm/tuning.hpp"

namespace tk::be {

// Steps of 64 k take whole lines from the L2 cache, which costs less power than halves of them: 6 %
// at 8192 cubed, where that is the bound. A step's cost is guessed: a small tile takes a tenth more
// for each product.
inline constexpr int gemm_sizes = 2;
constexpr gemm_tuning tune_gemm(int size) {
  constexpr bool roomy = smem_bytes >= 163 * 1024;
  if (!roomy)
    return size == 0 ? gemm_tuning{.down = 1,
                                   .across = 2,
                                   .M = 128,
                                   .N = 64,
                                   .K = 32,
                                   .stages = 5,
                                   .cluster = 1,
                                   .group = 8,
                                   .turns = false,
                                   .out_bytes = 64,
                                   .step_cost = 100}
                     : gemm_tuning{.down = 1,
                                   .across = 2,
                                   .M = 64,
                                   .N = 64,
                                   .K = 32,
                                   .stages = 5,
                                   .cluster = 1,
                                   .group = 8,
                                   .turns = false,
                                   .out_bytes = 64,
                                   .step_cost = 55};
  return size == 0 ? gemm_tuning{.down = 1,
                                 .across = 2,
                                 .M = 256,
                                 .N = 64,
                                 .K = 64,
                                 .stages = 3,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 64,
                                 .step_cost = 100}
                   : gemm_tuning{.down = 1,
                                 .across = 2,
                                 .M = 128,
                                 .N = 64,
                                 .K = 64,
                                 .stages = 4,
                                 .cluster = 1,
                                 .group = 8,
                                 .turns = false,
                                 .out_bytes = 128,
                                 .step_cost = 55};
}
inline constexpr bool gemm_sizes_alike = true;

// Cutting tiles along k brings 2 % at 8192 cubed.
inline constexpr int gemm_partial_cost = 3;

// Without cp.async much.
constexpr load_cost gemm_load_cost(std::int64_t bytes) {
  return bytes % 4 != 0 ? load_cost::high : load_cost::none;
}

constexpr repack_tuning tune_repack() { return {.workers = 2, .R = 16, .C = 512}; }

}  // namespace tk::be
