// SPDX-License-Identifier: MIT
// What all chips of this backend have in common: qualifiers, capabilities and sizes. A worker is
// one wave of 64 lanes. All waves of a block move data and compute: there is no room for a
// producer wave, and no barrier for parts of a block.
#pragma once
#include <cstdint>

#if defined(__HIP__)
#define TK_DEVICE __attribute__((device, always_inline)) inline
#define TK_BOTH __attribute__((host, device, always_inline)) inline
#define TK_KERNEL(threads) \
  __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void
#else  // host sources, and device sources under emulation
#define TK_DEVICE inline
#define TK_BOTH inline
#define TK_KERNEL(threads) inline void
#endif
#define TK_ARGUMENT

namespace tk::be {

inline constexpr int warp_lanes = 64, worker_warps = 1, worker_lanes = 64, worker_rows = 16;
inline constexpr bool negates_operands = false;
inline constexpr bool has_fp16_sums = false;       // of products
inline constexpr bool has_async_products = false;  // the compiler waits for MFMA
inline constexpr bool has_senders = false;
inline constexpr int max_cluster = 1;         // no clusters
inline constexpr int tile_alignment = 128;    // a visit to each bank of LDS
inline constexpr bool limited_memory = true;  // an op that needs more does not compile

}  // namespace tk::be
