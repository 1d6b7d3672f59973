// SPDX-License-Identifier: MIT
// A chunk of a row, 16 bytes or 8 of 1-byte elements, read from where it lies, in whole, in part or
// by words.
#pragma once
#include "core/move.hpp"
#include "core/row_tuning.hpp"

namespace tk {

template <class T> TK_DEVICE std::uint32_t bits_of_element(T x) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(x);
  else return x.bits;
}
// The 32 bits from bit `bits` on of two words, below 32.
TK_DEVICE std::uint32_t words_across(std::uint32_t low, std::uint32_t high, int bits) {
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> bits);
}
// A chunk of which the elements from `first` to before `left` are there: all or none, where it is
// Whole; else one by one, unless the words of 4 bytes that it lies in are there.
template <class T> struct chunk_words {
  static constexpr int n = chunk_of<T>, words = chunk_bytes<T> / 4, in_word = n / words,
                       element_bits = 8 * sizeof(T);
  std::uint32_t w[words] = {};
  TK_DEVICE T element(int e) const {
    std::uint32_t const bits = w[e / in_word] >> e % in_word * element_bits;
    if constexpr (sizeof(T) == 4) return std::bit_cast<T>(bits);
    else return {static_cast<decltype(T::bits)>(bits)};
  }
  // From any p, by words of 4 bytes: the first begins `before` elements before p.
  TK_DEVICE void read_across(T const* p, int before) {
    std::uint32_t all[words + 1] = {};
    TK_UNROLL
    for (int k = 0; k < words; ++k) read_words<1>(all + k, p - before + k * in_word);
    if (before != 0) read_words<1>(all + words, p - before + n);
    TK_UNROLL
    for (int k = 0; k < words; ++k) w[k] = words_across(all[k], all[k + 1], before * element_bits);
  }
  // From p, at once where it is aligned.
  template <bool Whole> TK_DEVICE void read(T const* p, int first, int left, bool aligned) {
    if constexpr (Whole) {
      if (left > 0) read_words<words>(w, p);
    } else if (aligned && first <= 0 && left >= n) {
      read_words<words>(w, p);
    } else if (int const before = shift_of(p) % in_word;
               be::moves_across && !aligned && first <= -before &&
               left >= (before == 0 ? n : n + in_word - before)) {
      read_across(p, before);
    } else {
      TK_UNROLL
      for (int e = 0; e < n; ++e)
        if (first <= e && e < left)
          w[e / in_word] |= bits_of_element(p[e]) << e % in_word * element_bits;
    }
  }
  // The same of half a chunk, whose elements are two columns' each.
  template <bool Whole> TK_DEVICE void read_twice(T const* p, int first, int left, bool aligned) {
    static_assert(words == 4, "of elements of 2 or 4 bytes");
    std::uint32_t half[2] = {};
    if (Whole ? left > 0 : aligned && first <= 0 && left >= n) {
      read_words<2>(half, p);
    } else {
      TK_UNROLL
      for (int e = 0; e < n / 2; ++e)
        if (first <= 2 * e && 2 * e < left)
          half[e * 4 / n] |= bits_of_element(p[e]) << e % (n / 4) * 16;
    }
    TK_UNROLL
    for (int k = 0; k < 4; ++k) {
      if constexpr (sizeof(T) == 4) w[k] = half[k / 2];
      else w[k] = (half[k / 2] >> k % 2 * 16 & 0xffff) * 0x10001u;
    }
  }
  // Its elements become those from i on of a tile or row.
  template <class X> TK_DEVICE void put(X& x, int i) const {
    TK_UNROLL
    for (int k = 0; k < words; ++k) {
      if constexpr (sizeof(T) == 4) {
        x.e[i + k] = std::bit_cast<float>(w[k]);
      } else if constexpr (sizeof(T) == 2) {
        x.e[i / 2 + k] = w[k];
      } else {
        x.e[i / 2 + 2 * k] = static_cast<std::uint16_t>(w[k]);
        x.e[i / 2 + 2 * k + 1] = static_cast<std::uint16_t>(w[k] >> 16);
      }
    }
  }
};

}  // namespace tk
