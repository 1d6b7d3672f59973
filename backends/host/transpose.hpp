// SPDX-License-Identifier: MIT
// Blocks of matrices, transposed: 16 rows and columns at once in SIMD registers, whatever the
// elements are, and written by lines.
#pragma once
#include "backends/host/line.hpp"

namespace tk::be {

template <int Bytes> struct bits_of_bytes;
template <> struct bits_of_bytes<1> {
  using type = std::uint8_t;
};
template <> struct bits_of_bytes<2> {
  using type = std::uint16_t;
};
template <> struct bits_of_bytes<4> {
  using type = std::uint32_t;
};

// to[c, r] = from[r, c] of 16 rows and columns.
template <class T>
TK_DEVICE void transpose_square(T* to, std::int64_t to_stride, T const* from,
                                std::int64_t from_stride) {
  typedef typename bits_of_bytes<sizeof(T)>::type line __attribute__((vector_size(16 * sizeof(T))));
  line x[16];
  for (int r = 0; r < 16; ++r) std::memcpy(&x[r], from + r * from_stride, sizeof x[r]);
  transpose(x);
  for (int c = 0; c < 16; ++c) std::memcpy(to + c * to_stride, &x[c], sizeof x[c]);
}

// n bytes to a place in a tensor of so many: past the caches where that is large, but for what is
// no whole line.
TK_DEVICE void write_bytes(void* dst, void const* src, std::size_t n, std::int64_t bytes) {
  auto* to = static_cast<char*>(dst);
  auto const* from = static_cast<char const*>(src);
  std::size_t const before = -reinterpret_cast<std::uintptr_t>(dst) % 64;
  if (bytes >= cached_bytes && before < n) {
    std::memcpy(to, from, before);
    to += before, from += before, n -= before;
    for (; n >= 64; to += 64, from += 64, n -= 64) {
      bytes_64 x;
      std::memcpy(&x, from, sizeof x);
      write_past_caches(to, x);
    }
  }
  std::memcpy(to, from, n);
}

// to[c, r] = from[r, c] of `rows` rows and `cols` columns, at most R and C, into a tensor of so
// many bytes, through C rows of R elements.
template <int R, int C, class T>
TK_DEVICE void transpose_block(T* through, T* to, std::int64_t to_stride, T const* from,
                               std::int64_t from_stride, int rows, int cols, std::int64_t bytes) {
  for (int r = 0; r < rows; r += 16) {
    for (int below = r + 16; below < rows && below < r + 32; ++below)  // caches do not guess these
      for (int c = 0; c < cols; c += 64 / int{sizeof(T)})
        __builtin_prefetch(from + below * from_stride + c);
    for (int c = 0; c < cols; c += 16) {
      T* const square = through + c * R + r;
      T const* const x = from + r * from_stride + c;
      if (r + 16 <= rows && c + 16 <= cols) {
        transpose_square(square, R, x, from_stride);
      } else {
        for (int i = 0; i < 16 && r + i < rows; ++i)
          for (int k = 0; k < 16 && c + k < cols; ++k) square[k * R + i] = x[i * from_stride + k];
      }
    }
  }
  for (int c = 0; c < cols; ++c)
    write_bytes(to + c * to_stride, through + c * R, sizeof(T) * rows, bytes);
}

}  // namespace tk::be
