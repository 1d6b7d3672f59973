// SPDX-License-Identifier: MIT
// Keys in the order of numbers, and what topk's kernels are given.
#pragma once
#include "backends/kernel.hpp"
#include "core/row_operand.hpp"

namespace tk {

// Keys in the order of numbers, and below those of lower columns where numbers are equal. No key is
// 0, which stands for none.
template <class T> struct ordered_key {
  static constexpr std::uint32_t infinity = std::is_same_v<T, fp16> ? 0x7c000000 : 0x7f800000;
  std::uint32_t flip;  // all ones: the smallest number has the largest key

  TK_DEVICE std::uint32_t rank(std::uint32_t bits) const {
    std::uint32_t const sign = 0x80000000, magnitude = bits & ~sign;
    std::uint32_t key = bits & sign ? ~bits : bits | sign;
    if (magnitude == 0) key = sign;
    if (magnitude > infinity) key = ~0u;
    return key ^ flip;
  }
  TK_DEVICE std::uint64_t of(std::uint32_t bits, int col) const {
    return std::uint64_t{rank(bits)} << 32 | ~static_cast<std::uint32_t>(col);
  }
  static TK_DEVICE int column(std::uint64_t key) {
    return static_cast<int>(~static_cast<std::uint32_t>(key));
  }
  // The same in 32 bits, of 16-bit numbers in columns below 2^16 - 1.
  TK_DEVICE std::uint32_t short_of(std::uint32_t bits, int col) const
    requires(sizeof(T) == 2)
  {
    return (rank(bits) & 0xffff0000) | (~static_cast<std::uint32_t>(col) & 0xffff);
  }
  static TK_DEVICE int column(std::uint32_t key) { return static_cast<int>(~key & 0xffff); }
};
// The bits of a lane's i-th element, those of 16-bit numbers in the upper half.
template <class T, int R, int C>
TK_DEVICE std::uint32_t upper_bits(reg_tile<T, R, C> const& x, int i) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(x.e[i]);
  else return i % 2 ? x.e[i / 2] & 0xffff0000 : x.e[i / 2] << 16;
}

// Rows of several matrices; data is null where they are absent.
struct topk_rows {
  void* data;
  std::int64_t row_stride, stride0, stride1;
  int evenly;  // as in row_memory
};
struct topk_args {
  topk_rows x, values, indices;
  divisor each, middle;  // the rows of a matrix, and how many matrices there are of the inner kind
  int rows, width, k;
  std::uint32_t flip;
  int wide;          // indices are int64; a flag, but a word
  int vector_width;  // of x

  template <class X> TK_BOTH counted_rows<X> rows_of(topk_rows const& of, int cols) const {
    return {static_cast<X*>(of.data), rows, cols,  of.row_stride, of.stride0, of.stride1,
            of.evenly != 0,           each, middle};
  }
  template <class X> TK_BOTH X* row_of(topk_rows const& of, int row) const {
    return rows_of<X>(of, 0).at(row, 0);
  }
  TK_DEVICE void put_index(int row, int i, int col) const {
    if (!indices.data) return;
    if (wide) row_of<std::int64_t>(indices, row)[i] = col;
    else row_of<std::int32_t>(indices, row)[i] = col;
  }
};

}  // namespace tk
