// SPDX-License-Identifier: MIT
// Capabilities and sizes. A worker is a warpgroup: four warps that issue wgmma
// together, 64 rows at a time. A block of w workers has w + 1 warpgroups; the first one moves data
// and gives registers up.
#pragma once
#include "backends/sm_80/nvidia.hpp"

namespace tk::be {

inline constexpr int compute_capability = 90;
inline constexpr bool has_async_products = true;
inline constexpr bool negates_operands = true;  // a left one in registers, as it is read
inline constexpr bool has_fp16_sums = true;     // of products
inline constexpr bool has_senders = true;       // warps that deliver what workers send
inline constexpr bool has_fp8 = true;
inline constexpr int max_cluster = 8;          // blocks (CUDA C++ Programming Guide, 5.2.1)
inline constexpr int tile_alignment = 1024;    // PTX ISA, "Swizzling modes"
inline constexpr int smem_bytes = 227 * 1024;  // of one block (CUDA C++ Programming Guide, 9.0)

// Registers per lane of the producers' warpgroup and of each worker: together at most what a launch
// gives a block, as many to each warpgroup, in eights, where so many blocks share a multiprocessor.
constexpr int launch_registers(int workers, int blocks = 1) {
  return 65536 / 128 / blocks / (workers + 1) / 8 * 8;
}
constexpr int producer_registers(int workers) { return workers == 1 ? 56 : workers == 2 ? 40 : 32; }
constexpr int worker_registers(int workers, int blocks = 1) {
  int const left = (workers + 1) * launch_registers(workers, blocks) - producer_registers(workers),
            each = left / workers / 8 * 8;
  return each < 256 ? each : 256 - 8;
}
// Where some workers are helpers: what each of those gives up, and the others share.
constexpr int lent_registers = 16;

}  // namespace tk::be
