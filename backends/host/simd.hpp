// SPDX-License-Identifier: MIT
// Vectors of floats as wide as the CPU's registers, through the compiler's vector extension. One
// source for every instruction set; what to compile for is the compiler's -march.
#pragma once
#include <cstdint>
#include <cstring>
#include <utility>

#include "backends/host/arithmetic.hpp"

namespace tk::be {

#if defined(__AVX512F__)
inline constexpr int simd_lanes = 16, simd_registers = 32;
#elif defined(__AVX__)
inline constexpr int simd_lanes = 8, simd_registers = 16;
#elif defined(__ARM_NEON)
inline constexpr int simd_lanes = 4, simd_registers = 32;
#else
inline constexpr int simd_lanes = 4, simd_registers = 16;
#endif

typedef float simd __attribute__((vector_size(4 * simd_lanes)));

TK_DEVICE simd load_simd(float const* p) {
  simd x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
TK_DEVICE void store_simd(float* p, simd x) { std::memcpy(p, &x, sizeof x); }

// One step of a transpose: of two rows, exchanges the second half of each 2 Step lanes of a with
// the first half of those of b.
template <int Step, int... I>
TK_DEVICE void exchange(simd& a, simd& b, std::integer_sequence<int, I...>) {
  simd const x = __builtin_shufflevector(a, b, (I & Step ? I - Step + simd_lanes : I)...);
  b = __builtin_shufflevector(a, b, (I & Step ? I + simd_lanes : I + Step)...);
  a = x;
}
template <int Step = 1> TK_DEVICE void transpose(simd (&x)[simd_lanes]) {
  for (int i = 0; i < simd_lanes; ++i)
    if (!(i & Step))
      exchange<Step>(x[i], x[i + Step], std::make_integer_sequence<int, simd_lanes>{});
  if constexpr (2 * Step < simd_lanes) transpose<2 * Step>(x);
}

}  // namespace tk::be
