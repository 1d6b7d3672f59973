// SPDX-License-Identifier: MIT
// Lines of numbers on their way from memory, widened, and to it: rounded by 64 bytes of elements,
// and written past the caches where a tensor is large. Bit for bit what narrow() (arithmetic.hpp)
// gives of each number.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/host/simd.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tk::be {

typedef std::uint32_t bytes_64 __attribute__((vector_size(64)));

// In halves, elements with even numbers come first.
template <class T, bool InHalves> TK_DEVICE bytes_64 round_each(float const* from) {
  constexpr int n = 64 / static_cast<int>(sizeof(T));
  bytes_64 x;
  if constexpr (InHalves) {
    std::uint32_t pairs[16];
    for (int i = 0; i < 16; ++i) pairs[i] = pack(T{}, from[i], from[16 + i]);
    std::memcpy(&x, pairs, sizeof x);
    return x;
  }
  T each[n];
  for (int i = 0; i < n; ++i) each[i] = narrow<T>(from[i]);
  std::memcpy(&x, each, sizeof x);
  return x;
}
#if defined(__AVX512BF16__) && defined(__AVX512DQ__)
// 0, 16, 1, 17, ...
TK_DEVICE __m512i interleaved() {
  alignas(64) static constexpr std::uint16_t of[] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                     21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                     11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  return _mm512_load_si512(of);
}
// Beside code that seldom needs it, and by value, so that compilers see who reads its line.
template <bool InHalves> __attribute__((noinline)) bytes_64 round_apart(__m512 low, __m512 high) {
  alignas(64) float line[32];
  _mm512_store_ps(line, low), _mm512_store_ps(line + 16, high);
  return round_each<bf16, InHalves>(line);
}
#endif

// The first 64 / sizeof(T) numbers.
template <class T, bool InHalves> TK_DEVICE bytes_64 round_line(float const* from) {
  if constexpr (std::is_same_v<T, float>) {
    bytes_64 x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }
#if defined(__AVX512BF16__) && defined(__AVX512DQ__)
  // The instruction takes subnormal numbers for 0 (Intel's Software Developer's Manual, volume 2,
  // VCVTNE2PS2BF16); NaN it treats as narrow() does.
  if constexpr (std::is_same_v<T, bf16>) {
    constexpr int subnormal = 0x20;
    __m512 const low = _mm512_loadu_ps(from), high = _mm512_loadu_ps(from + 16);
    auto const any =
        _mm512_fpclass_ps_mask(low, subnormal) | _mm512_fpclass_ps_mask(high, subnormal);
    if (__builtin_expect(any != 0, 0)) return round_apart<InHalves>(low, high);
    auto const both = (__m512i)_mm512_cvtne2ps_pbh(high, low);
    return (bytes_64)(InHalves ? _mm512_permutexvar_epi16(interleaved(), both) : both);
  }
#endif
#if defined(__AVX512F__) || (defined(__F16C__) && defined(__AVX__))
  // NaN of any payload becomes one, as there.
  if constexpr (std::is_same_v<T, fp16>) {
    typedef std::uint32_t words __attribute__((vector_size(4 * simd_lanes)));
    bytes_64 x;
    unrolled<32 / simd_lanes>([&](auto i) {
      simd const y = load_simd(from + simd_lanes * i);
      words const bits = (words)y;
      words const z = y == y ? bits : (bits & 0x80000000) | 0x7fc00000;
#if defined(__AVX512F__)
      auto const packed = _mm512_maskz_cvtps_ph(0xffff, (__m512)z, _MM_FROUND_TO_NEAREST_INT);
#else
      auto const packed = _mm256_cvtps_ph((__m256)z, _MM_FROUND_TO_NEAREST_INT);
#endif
      std::memcpy(reinterpret_cast<char*>(&x) + 2 * simd_lanes * i, &packed, sizeof packed);
    });
    return x;
  }
#endif
  return round_each<T, InHalves>(from);
}

// The first n elements as numbers.
template <class T> TK_DEVICE void widen_line(float* to, T const* from, int n) {
  int i = 0;
  for (; i + simd_lanes <= n; i += simd_lanes) store_simd(to + i, widen_simd(from + i));
  for (; i < n; ++i) to[i] = be::widen(from[i]);
}

// What is written to a tensor of this size or more goes past the caches, which would read each line
// first and keep it in the place of others. (Of 32 MB, EPYC of the fourth generation, 32 MB of L3:
// an op over rows takes 0.85 of the time.)
inline constexpr std::int64_t cached_bytes = 16 << 20;
// To a multiple of 64 bytes. Other threads may read it after stores_settle().
TK_DEVICE void write_past_caches(void* dst, bytes_64 const& x) {
#if defined(__AVX512F__)
  _mm512_stream_si512(static_cast<__m512i*>(dst), (__m512i)x);
#elif defined(__AVX__)
  for (int i = 0; i < 2; ++i)
    _mm256_stream_si256(static_cast<__m256i*>(dst) + i,
                        _mm256_loadu_si256(reinterpret_cast<__m256i const*>(&x) + i));
#elif defined(__SSE2__)
  for (int i = 0; i < 4; ++i)
    _mm_stream_si128(static_cast<__m128i*>(dst) + i,
                     _mm_loadu_si128(reinterpret_cast<__m128i const*>(&x) + i));
#else
  std::memcpy(dst, &x, sizeof x);
#endif
}
TK_DEVICE void stores_settle() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// Numbers [begin, end) of C, rounded, to the same places of a tensor of so many bytes.
template <bool InHalves, class T, int C>
TK_DEVICE void write_rounded(T* dst, float const (&line)[C], int begin, int end,
                             std::int64_t bytes) {
  constexpr int n = 64 / static_cast<int>(sizeof(T));
  if constexpr (C % n == 0) {
    if (begin <= 0) {
      bool const past = bytes >= cached_bytes && reinterpret_cast<std::uintptr_t>(dst) % 64 == 0;
      auto const write_whole = [&](int c) __attribute__((always_inline)) {
        bytes_64 const x = round_line<T, InHalves>(line + c);
        if (past) write_past_caches(dst + c, x);
        else std::memcpy(dst + c, &x, sizeof x);
      };
      if (end >= C) {
        for (int c = 0; c < C; c += n) write_whole(c);
        return;
      }
      int c = 0;
      for (; c + n <= end; c += n) write_whole(c);
      if (c >= end) return;
      bytes_64 const x = round_line<T, InHalves>(line + c);
      std::memcpy(dst + c, &x, sizeof(T) * (end - c));
      return;
    }
  }
  auto const of = [](int c) { return InHalves ? c / 32 * 32 + c % 2 * 16 + c % 32 / 2 : c; };
  end = end < C ? end : C;
  for (int c = begin < 0 ? 0 : begin; c < end; ++c) dst[c] = narrow<T>(line[of(c)]);
}

}  // namespace tk::be
