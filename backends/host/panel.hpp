// SPDX-License-Identifier: MIT
// Panels of shared tiles lie row by row: memory has no banks.
#pragma once
#include "backends/host/arch.hpp"

namespace tk::be {

template <int RowBytes> struct panel_layout {
  static constexpr int row_bytes = RowBytes;
  static constexpr int offset(int row, int byte) { return row * RowBytes + byte; }
};

}  // namespace tk::be
