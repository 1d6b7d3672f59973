// SPDX-License-Identifier: MIT
// Vectors of floats as wide as the CPU's registers, through the compiler's vector extension. One
// source for every instruction set; what to compile for is the compiler's -march.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX__)
#include <immintrin.h>
#endif

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

// body(0), body(1), ... of constants: arrays that they index may live in registers.
template <int N, class Body> TK_DEVICE void unrolled(Body body) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, I>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}

TK_DEVICE simd load_simd(float const* p) {
  simd x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
TK_DEVICE void store_simd(float* p, simd x) { std::memcpy(p, &x, sizeof x); }

// simd_lanes elements as floats.
template <class T> TK_DEVICE simd widen_simd(T const* p) {
  simd x;
  if constexpr (std::is_same_v<T, bf16>) {
    typedef std::uint16_t halves __attribute__((vector_size(2 * simd_lanes)));
    typedef std::uint32_t words __attribute__((vector_size(4 * simd_lanes)));
    halves bits;
    std::memcpy(&bits, p, sizeof bits);
#if defined(__AVX512F__)  // g++ 12 would widen halves of it
    auto const wide = (words)_mm512_maskz_cvtepu16_epi32(0xffff, (__m256i)bits) << 16;
#else
    words const wide = __builtin_convertvector(bits, words) << 16;
#endif
    std::memcpy(&x, &wide, sizeof x);
#if defined(__AVX512F__)
  } else if constexpr (std::is_same_v<T, fp16>) {
    x = _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<__m256i const*>(p)));
#elif defined(__F16C__) && defined(__AVX__)
  } else if constexpr (std::is_same_v<T, fp16>) {
    x = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<__m128i const*>(p)));
#endif
  } else {
    for (int i = 0; i < simd_lanes; ++i) x[i] = be::widen(p[i]);
  }
  return x;
}

// Of words that hold several elements each, the part-th ones, as floats.
template <class T> TK_DEVICE simd widen_part(simd of, int part) {
  typedef std::uint32_t words __attribute__((vector_size(4 * simd_lanes)));
  words x;
  std::memcpy(&x, &of, sizeof x);
  if constexpr (std::is_same_v<T, bf16>) {
    x = part == 0 ? x << 16 : x & 0xffff0000;
    std::memcpy(&of, &x, sizeof x);
    return of;
  } else {
    using bits = decltype(T::bits);
    typedef bits narrow __attribute__((vector_size(sizeof(bits) * simd_lanes)));
    auto const y = __builtin_convertvector(x >> 8 * static_cast<int>(sizeof(T)) * part, narrow);
    T z[simd_lanes];
    std::memcpy(z, &y, sizeof z);
    return widen_simd(z);
  }
}

// One step of a transpose: of two rows, exchanges the second half of each 2 Step lanes of a with
// the first half of those of b.
template <int Step, class V, int... I>
TK_DEVICE void exchange(V& a, V& b, std::integer_sequence<int, I...>) {
  constexpr int lanes = sizeof...(I);
  V const x = __builtin_shufflevector(a, b, (I & Step ? I - Step + lanes : I)...);
  b = __builtin_shufflevector(a, b, (I & Step ? I + lanes : I + Step)...);
  a = x;
}
// Of as many rows as they have lanes.
template <int Step = 1, class V, int N> TK_DEVICE void transpose(V (&x)[N]) {
  for (int i = 0; i < N; ++i)
    if (!(i & Step)) exchange<Step>(x[i], x[i + Step], std::make_integer_sequence<int, N>{});
  if constexpr (2 * Step < N) transpose<2 * Step>(x);
}

}  // namespace tk::be
