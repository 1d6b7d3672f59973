// SPDX-License-Identifier: MIT
// Qualifiers, capabilities and sizes of the CPU. A worker is one thread of control that holds whole
// tiles: one lane, every element.
#pragma once
#include <cstdint>

// Tile operations are inlined into the loop over a task's steps, whatever their number.
#define TK_DEVICE inline __attribute__((always_inline))
#define TK_BOTH inline
#define TK_ARGUMENT

namespace tk::be {

inline constexpr int warp_lanes = 1, worker_warps = 1, worker_lanes = 1, worker_rows = 16;
inline constexpr bool has_async_products = false;
inline constexpr bool negates_operands = false;
inline constexpr bool has_fp16_sums = false;  // of products
inline constexpr bool has_senders = false;
inline constexpr int max_cluster = 8;       // its ranks come one after another
inline constexpr int smem_bytes = 1 << 30;  // ordinary memory
inline constexpr int tile_alignment = 64;   // a cache line
inline constexpr bool limited_memory = false;

}  // namespace tk::be
