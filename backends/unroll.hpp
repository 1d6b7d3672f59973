// SPDX-License-Identifier: MIT
// Loops over a lane's elements are unrolled wherever elements must live in registers; loops whose
// code is long, or rarely run, are not.
#pragma once

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
