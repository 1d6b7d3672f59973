// SPDX-License-Identifier: MIT
// Capabilities and sizes of gfx90a (MI210, MI250).
#pragma once
#include "backends/hip/wave.hpp"

namespace tk::be {

inline constexpr char const* chip_name = "gfx90a";
inline constexpr int smem_bytes = 64 * 1024;  // LDS of one block (CDNA 2 ISA, "Local data share")
inline constexpr int mfma_run = 4;            // k that a lane gives to one MFMA, at most
inline constexpr int copy_lane_bytes = 4;     // of a copy to LDS, at most
inline constexpr bool copy_is_load = true;    // with "lds" behind it, in assembly
inline constexpr bool has_transposed_reads = false;
inline constexpr bool has_bf16_pack = false;

}  // namespace tk::be
