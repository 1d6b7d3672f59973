// SPDX-License-Identifier: MIT
// What core/ needs of the chosen backend: qualifiers, capabilities, register layouts, scalar
// arithmetic.
#pragma once
#include "backends/select.hpp"
#include "backends/unroll.hpp"

#include TK_CHIP(arch.hpp)
#include TK_BACKEND(fragment.hpp)

namespace tk::be {
// Whether device code runs on the CPU and can write to the terminal (backends/gather.hpp).
#if defined(TK_EMULATE)
inline constexpr bool can_gather = true;
#else
inline constexpr bool can_gather = worker_lanes == 1;
#endif
}  // namespace tk::be
