// SPDX-License-Identifier: MIT
// Capabilities and sizes of gfx950 (MI350, MI355).
#pragma once
#include "backends/hip/wave.hpp"

namespace tk::be {

inline constexpr char const* chip_name = "gfx950";
inline constexpr int smem_bytes = 160 * 1024;  // LDS of one block (CDNA 4 ISA, "Local data share")
inline constexpr int mfma_run = 8;             // k that a lane gives to one MFMA, at most
inline constexpr int copy_lane_bytes = 16;     // of a copy to LDS, at most
inline constexpr bool copy_is_load = false;    // with "lds" behind it, in assembly
inline constexpr bool has_transposed_reads = true;
inline constexpr bool has_bf16_pack = true;

}  // namespace tk::be
