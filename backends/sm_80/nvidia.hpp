// SPDX-License-Identifier: MIT
// What the arch.hpp of every NVIDIA chip has in common: qualifiers, and the worker. A worker is
// four warps, each with 16 of every 64 rows, so that its register layout is the same on all of them
// (fragment.hpp): that of wgmma's accumulator, which is four of mma.m16n8k16's one below another.
#pragma once
#include <cstdint>

#if defined(__CUDACC__)
#define TK_DEVICE __device__ __forceinline__
#define TK_BOTH __host__ __device__ __forceinline__
#define TK_SHARING_KERNEL(threads, blocks) __global__ void __launch_bounds__(threads, blocks)
#define TK_ARGUMENT __grid_constant__
#else  // host sources, and device sources under emulation
#define TK_DEVICE inline
#define TK_BOTH inline
#define TK_SHARING_KERNEL(threads, blocks) inline void
#define TK_ARGUMENT
#endif

namespace tk::be {

inline constexpr int warp_lanes = 32, worker_warps = 4, worker_lanes = 128, worker_rows = 64;
inline constexpr bool limited_memory = true;  // an op that needs more does not compile
// What a multiprocessor keeps of its shared memory for each block; it has as much more than one
// block may ask for (CUDA C++ Programming Guide, 9.0).
inline constexpr int reserved_smem_bytes = 1024;

}  // namespace tk::be
