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

namespace {

// Walks all pieces of all splits; returns how many steps are wrongly split.
int wrongly_split(tk::even_splits const& x) {
  std::vector<int> done(static_cast<std::size_t>(x.tiles)), finished(done);
  int wrong = 0;
  std::int64_t least = x.begin(x.splits), most = 0;
  for (int split = 0; split < x.splits; ++split) {
    std::int64_t steps = 0;
    for (int n = 0; n < x.pieces + 2; ++n) {
      auto const p = x.at(split, n);
      if (p.steps == 0) continue;
      wrong += n >= x.pieces || p.tile < 0 || p.tile >= x.tiles;
      if (wrong) return wrong;
      auto const tile = static_cast<std::size_t>(p.tile);
      wrong += done[tile] != p.first;  // upward, without a gap, over the splits in order
      done[tile] += p.steps;
      finished[tile] += p.finishes();
      wrong += !p.finishes() && n > 0;  // only the first piece is a partial sum
      // The splits that a finishing piece waits for are those that go on with its tile.
      if (p.finishes())
        for (int other = split + 1; other < x.splits; ++other) {
          bool has = false;
          for (int k = 0; k < x.pieces; ++k)
            has |= x.at(other, k).tile == p.tile && x.at(other, k).steps > 0;
          wrong += has != x.continues(other, p.tile);
        }
      steps += p.steps;
    }
    least = steps < least ? steps : least;
    most = steps > most ? steps : most;
  }
  for (int const n : done) wrong += n != x.steps;
  for (int const n : finished) wrong += n != 1;
  return wrong + (most > least + 1);
}

}  // namespace

TEST_CASE("even_splits: every step once, in splits that differ by one step at most") {
  int cut = 0;
  for (int blocks : {1, 2, 3, 4, 7, 16, 33})
    for (int tiles = 1; tiles <= 3 * blocks + 2; ++tiles)
      for (int steps : {1, 2, 5, 16, 63, 200})
        for (int cost : {1, 2, 5}) {
          auto const x = tk::split_evenly(tiles, steps, blocks, cost);
          CAPTURE(blocks);
          CAPTURE(tiles);
          CAPTURE(steps);
          CAPTURE(cost);
          if (x.tiles == 0) continue;
          REQUIRE(x.tiles == tiles % blocks);
          ++cut;
          REQUIRE(x.splits <= blocks);
          REQUIRE(wrongly_split(x) == 0);
        }
  CHECK(cut > 100);
  CHECK(tk::split_evenly(5, 100, 4, 0).tiles == 0);
  CHECK(tk::split_evenly(8, 100, 4, 1).tiles == 0);
  CHECK(tk::split_evenly(5, 0, 4, 1).tiles == 0);
}

TEST_CASE("even_splits counts steps in 64 bits") {
  tk::even_splits const x{200, 1 << 25, 132, 2};
  auto const last = x.at(131, 1);
  CHECK(last.tile == 199);
  CHECK(last.first + last.steps == 1 << 25);
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
