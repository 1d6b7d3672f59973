// SPDX-License-Identifier: MIT
// What core/ needs of the chosen backend: qualifiers, capabilities, register layouts, scalar
// arithmetic.
#pragma once
#include "backends/select.hpp"

// Loops over a lane's elements are unrolled wherever elements must live in registers.
#if defined(__CUDACC__) || defined(__HIP__)
#define TK_UNROLL _Pragma("unroll")
#else
#define TK_UNROLL
#endif

#include TK_CHIP(arch.hpp)
#include TK_BACKEND(fragment.hpp)
