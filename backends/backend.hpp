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
