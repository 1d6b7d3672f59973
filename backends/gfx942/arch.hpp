// SPDX-License-Identifier: MIT
// Capabilities and sizes of gfx942 (MI300, MI325).
#pragma once
#include "backends/hip/wave.hpp"

namespace tk::be {

inline constexpr char const* chip_name = "gfx942";
inline constexpr int smem_bytes = 64 * 1024;  // LDS of one block (CDNA 3 ISA, "Local data share")
inline constexpr int mfma_run = 4;            // k that a lane gives to one MFMA, at most
inline constexpr int copy_lane_bytes = 4;     // of a copy to LDS, at most
inline constexpr bool copy_is_load = false;   // with "lds" behind it, in assembly
inline constexpr bool has_transposed_reads = false;
inline constexpr bool has_bf16_pack = false;

}  // namespace tk::be
