// SPDX-License-Identifier: MIT
// The order of tiles: every tile once, whatever the group; a group's rows are finished before the
// next begins, and inside a group one goes down before across. ceil_div up to the largest int.
#include "core/schedule.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

TEST_CASE("grouped visits every tile once, a group of rows at a time, columns inside") {
  for (int rows = 1; rows <= 19; ++rows)
    for (int cols = 1; cols <= 11; ++cols)
      for (int group = 1; group <= 21; ++group) {
        std::vector<int> visits(static_cast<std::size_t>(rows * cols));
        tk::tile_at before{0, 0};
        int wrong = 0;
        for (int i = 0; i < rows * cols; ++i) {
          auto const at = tk::grouped(i, rows, cols, group);
          if (at.row < 0 || at.row >= rows || at.col < 0 || at.col >= cols) {
            ++wrong;
            continue;
          }
          ++visits[static_cast<std::size_t>(at.row * cols + at.col)];
          int const g = at.row / group, was = before.row / group;
          bool const upward = i == 0 || g > was || (g == was && at.col > before.col) ||
                              (g == was && at.col == before.col && at.row == before.row + 1);
          wrong += !upward;
          before = at;
        }
        for (int const n : visits) wrong += n != 1;
        CAPTURE(rows);
        CAPTURE(cols);
        CAPTURE(group);
        REQUIRE(wrong == 0);
      }
}

TEST_CASE("grouped at the end of a long list") {
  // 2^15 x (2^16 - 1) tiles: the last numbers are close to the largest int.
  constexpr int rows = 1 << 15, cols = (1 << 16) - 1;
  auto const last = tk::grouped(rows * cols - 1, rows, cols, 16);
  CHECK(last.row == rows - 1);
  CHECK(last.col == cols - 1);
  auto const first = tk::grouped(0, rows, cols, 16);
  CHECK(first.row == 0);
  CHECK(first.col == 0);
}

TEST_CASE("ceil_div is exact up to the largest int") {
  constexpr int most = std::numeric_limits<int>::max();
  for (int const a : {0, 1, 2, 15, 16, 17, 1000, most - 2, most - 1, most})
    for (int const b : {1, 2, 3, 16, 17, 4096, most - 1, most}) {
      auto const exact = (std::int64_t{a} + b - 1) / b;
      CAPTURE(a);
      CAPTURE(b);
      CHECK(tk::ceil_div(a, b) == exact);
    }
}
