// SPDX-License-Identifier: MIT
// Capabilities and sizes of compute capability 8.0 (A100).
#pragma once
#include "backends/sm_80/nvidia.hpp"

namespace tk::be {

inline constexpr int compute_capability = 80;
inline constexpr bool has_async_products = false;
inline constexpr bool negates_operands = false;
inline constexpr bool has_fp16_sums = false;  // of products
inline constexpr bool has_senders = false;
inline constexpr bool has_fp8 = false;
inline constexpr int max_cluster = 1;          // no clusters
inline constexpr int tile_alignment = 128;     // a visit to each bank
inline constexpr int smem_bytes = 163 * 1024;  // of one block (CUDA C++ Programming Guide, 9.0)

}  // namespace tk::be
