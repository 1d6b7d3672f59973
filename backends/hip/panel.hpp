// SPDX-License-Identifier: MIT
// Panels of shared tiles lie in lines of 128 bytes of LDS, each of which visits all 32 banks once,
// in eight places of 16 bytes:
//   (row, chunk of 16 bytes) -> line row RowBytes / 128, place chunk ^ swizzle(row)
// Rows that share a line differ in those bits of the place that chunks leave free. swizzle(row)
// makes eight places different for every eight rows that products read at once (mma.hpp).
#pragma once
#include "core/layout.hpp"

namespace tk::be {

template <int RowBytes> struct panel_layout {
  static_assert(RowBytes == 32 || RowBytes == 64 || RowBytes == 128);
  static constexpr int row_bytes = RowBytes, chunks = RowBytes / 16, line_rows = 128 / RowBytes;

  // From the row's bits r0 ... r4: (r0 ^ r3 ^ r4, r1, r2 ^ r3).
  static TK_BOTH constexpr int swizzle(int row) {
    return ((row ^ row >> 3 ^ row >> 4) & 1) << 2 | (row & 2) | ((row >> 2 ^ row >> 3) & 1);
  }
  // Without division: compilers then see which bits of a lane's number go where.
  static TK_BOTH constexpr int offset(int row, int byte) {
    int const line = row >> line_rows / 2, in_line = byte >> 4 ^ swizzle(row);
    return line << 7 | in_line << 4 | (byte & 15);
  }
  struct place {
    int row, byte;
  };
  // What lies at an offset.
  static TK_BOTH constexpr place at(int offset) {
    int const in_line = offset >> 4 & 7;
    int row = offset >> 7 << line_rows / 2;
    if (line_rows == 4) row |= in_line & 2;
    if (line_rows >= 2) row |= (in_line >> 2 ^ row >> 3 ^ row >> 4) & 1;
    return {row, ((in_line ^ swizzle(row)) & (chunks - 1)) << 4 | (offset & 15)};
  }
};

}  // namespace tk::be
