// SPDX-License-Identifier: MIT
// What core/ needs of the chosen backend: qualifiers, capabilities, register layouts, scalar
// arithmetic.
#pragma once
#include "backends/select.hpp"

// Loops over a lane's elements are unrolled wherever elements must live in registers; loops whose
// code is long, or rarely run, are not.
#if defined(__CUDACC__)
#define TK_UNROLL _Pragma("unroll")
#define TK_ROLL _Pragma("unroll 1")
#elif defined(__HIP__)
#define TK_UNROLL _Pragma("unroll")
#define TK_ROLL _Pragma("clang loop unroll(disable)")
#else
#define TK_UNROLL
#define TK_ROLL
#endif

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
