// SPDX-License-Identifier: MIT
// The order in which persistent blocks take tiles; the same functions on device and host.
// grouped: tiles of `group` consecutive rows are walked column by column, so that the blocks in
// flight share few rows and few columns of the inputs, and these stay in the L2 cache.
#pragma once
#include "backends/backend.hpp"

namespace tk {

struct tile_at {
  int row, col;
};

TK_BOTH constexpr int ceil_div(int a, int b) { return a / b + (a % b != 0); }

TK_BOTH constexpr tile_at grouped(int i, int rows, int cols, int group) {
  int const first = i / (group * cols) * group;
  int const height = rows - first < group ? rows - first : group;
  int const left = i - first * cols;
  return {first + left % height, left / height};
}

}  // namespace tk
