// SPDX-License-Identifier: MIT
// The backend's fragment map as a property of every shape: each element of a tile in exactly one
// place, rows of a lane, pairs that are neighbours. And against the instruction's own tables,
// written here from the vendor's manuals: packed to 16 bits, an accumulator is the left operand of
// the next product, register by register.
#include "backends/backend.hpp"

#include <doctest/doctest.h>

#include <set>
#include <utility>
#include <vector>

#include "core/layout.hpp"
#include "tests/core/shapes.hpp"

namespace {

namespace be = tk::be;

// Functions, since a CHECK in each of the instances would take most of the time to compile.
struct {
  int rows, cols;
} shape_checked;
void expect(bool ok, char const* what) {
  CHECK_MESSAGE(ok, what << ", of " << shape_checked.rows << " x " << shape_checked.cols);
}
void require(bool ok, char const* what) {
  REQUIRE_MESSAGE(ok, what << ", of " << shape_checked.rows << " x " << shape_checked.cols);
}

struct place {
  int row, col;
  friend bool operator==(place, place) = default;
};

template <class Map> place place_of(int lane, int i) {
  return {Map::lane_row(lane) + Map::row(Map::row_index(i)), Map::lane_col(lane) + Map::col(i)};
}

template <class Map> void check_bijective() {
  static_assert(tk::fragment_layout<Map>);
  static_assert(Map::count * Map::lanes == Map::rows * Map::cols);
  std::vector<int> times(static_cast<std::size_t>(Map::rows * Map::cols));
  int outside = 0;
  for (int lane = 0; lane < Map::lanes; ++lane)
    for (int i = 0; i < Map::count; ++i) {
      auto const at = place_of<Map>(lane, i);
      if (at.row < 0 || at.row >= Map::rows || at.col < 0 || at.col >= Map::cols) ++outside;
      else ++times[static_cast<std::size_t>(at.row * Map::cols + at.col)];
    }
  int missed = 0;
  for (int const n : times) missed += n != 1;
  expect(outside == 0, "outside == 0");
  expect(missed == 0, "missed == 0");
}

// row_index counts the rows of a lane; each row is held by the same number of lanes, once in each.
template <class Map> void check_rows_of_lanes() {
  std::set<int> found;
  for (int i = 0; i < Map::count; ++i) found.insert(Map::row_index(i));
  expect(static_cast<int>(found.size()) == Map::rows_per_lane,
         "static_cast<int>(found.size()) == Map::rows_per_lane");
  expect(*found.begin() == 0, "*found.begin() == 0");
  expect(*found.rbegin() == Map::rows_per_lane - 1, "*found.rbegin() == Map::rows_per_lane - 1");
  expect(be::column_map<Map::rows>::count == Map::rows_per_lane,
         "be::column_map<Map::rows>::count == Map::rows_per_lane");
  std::vector<int> holders(Map::rows);
  for (int lane = 0; lane < Map::lanes; ++lane)
    for (int s = 0; s < Map::rows_per_lane; ++s) {
      int const row = Map::lane_row(lane) + Map::row(s);
      require(row < Map::rows, "row < Map::rows");
      ++holders[static_cast<std::size_t>(row)];
    }
  int const each = Map::lanes * Map::rows_per_lane / Map::rows;
  expect(holders == std::vector<int>(Map::rows, each),
         "holders == std::vector<int>(Map::rows, each)");
  // Rows do not depend on the width: a column of any tile fits every other tile of as many rows.
  using narrow = be::fragment_map<Map::rows, 16>;
  expect(narrow::rows_per_lane == Map::rows_per_lane,
         "narrow::rows_per_lane == Map::rows_per_lane");
  for (int s = 0; s < Map::rows_per_lane; ++s)
    expect(narrow::row(s) == Map::row(s), "narrow::row(s) == Map::row(s)");
  for (int lane = 0; lane < Map::lanes; ++lane)
    expect(narrow::lane_row(lane) == Map::lane_row(lane),
           "narrow::lane_row(lane) == Map::lane_row(lane)");
  // One lane of a row has its first column (it stores what belongs to the row).
  std::vector<int> firsts(Map::rows);
  for (int lane = 0; lane < Map::lanes; ++lane)
    for (int s = 0; s < Map::rows_per_lane && Map::lane_col(lane) == 0; ++s)
      ++firsts[static_cast<std::size_t>(Map::lane_row(lane) + Map::row(s))];
  expect(firsts == std::vector<int>(Map::rows, 1), "firsts == std::vector<int>(Map::rows, 1)");
}

// All rows of a lane have the same columns, in the same order; the lane's part is a sum over the
// bits of its number, so that reductions over columns know which lanes share them.
template <class Map> void check_columns() {
  constexpr int per_row = Map::count / Map::rows_per_lane;
  std::vector<int> times(Map::count);
  int wrong = 0;
  for (int r = 0; r < Map::rows_per_lane; ++r)
    for (int k = 0; k < per_row; ++k) {
      int const i = Map::element(r, k);
      require(i >= 0, "i >= 0");
      require(i < Map::count, "i < Map::count");
      ++times[static_cast<std::size_t>(i)];
      wrong += Map::row_index(i) != r || Map::col(i) != Map::col(Map::element(0, k));
    }
  expect(times == std::vector<int>(Map::count, 1), "times == std::vector<int>(Map::count, 1)");
  for (int lane = 0; lane < Map::lanes; ++lane) {
    int col = 0, row = 0;
    for (int bit = 1; bit <= lane; bit *= 2)
      if (lane & bit) col += Map::lane_col(bit), row += Map::lane_row(bit);
    wrong += col != Map::lane_col(lane) || row != Map::lane_row(lane);
  }
  expect(wrong == 0, "wrong == 0");
}

template <class Map> void check_pairs() {
  expect(Map::count % 2 == 0, "Map::count % 2 == 0");
  int torn = 0;
  for (int lane = 0; lane < Map::lanes; ++lane)
    for (int i = 0; i < Map::count; i += 2) {
      auto const a = place_of<Map>(lane, i), b = place_of<Map>(lane, i + 1);
      torn += a.col % 2 != 0 || Map::row_index(i) != Map::row_index(i + 1) ||
              b != place{a.row, a.col + 1};
    }
  expect(torn == 0, "torn == 0");
}

template <class Map> void check_chains() {
  expect(Map::chains >= 1, "Map::chains >= 1");
  expect((Map::chains & (Map::chains - 1)) == 0,
         "(Map::chains & (Map::chains - 1)) == 0");  // they are combined in halves
}

// The p-th V columns, seen as a tile, are elements of the whole in the same lanes.
template <class Map, int V> void check_part() {
  if constexpr (V < Map::cols && Map::cols % V == 0) {
    using narrow = be::fragment_map<Map::rows, V>;
    int wrong = 0;
    for (int lane = 0; lane < Map::lanes; ++lane)
      for (int p = 0; p < Map::cols / V; ++p)
        for (int i = 0; i < narrow::count; ++i) {
          auto const at = place_of<narrow>(lane, i);
          int const whole = Map::template part<V>(i, p);
          require(whole >= 0, "whole >= 0");
          require(whole < Map::count, "whole < Map::count");
          wrong += place_of<Map>(lane, whole) != place{at.row, at.col + p * V};
        }
    expect(wrong == 0, "wrong == 0");
  }
}

// ---- the instructions' tables: l lane, g = l >> 2, t = l & 3, r 32-bit register, h half inside
// it. wgmma m64nNk16: A in registers, row 16 w + g + 8 (r & 1), k 2 t + h + 8 (r >> 1); D, row 16 w
// + g + 8 ((r >> 1) & 1), column 8 (r >> 2) + 2 t + (r & 1); w the warp, g and t inside it.
[[maybe_unused]] place wgmma_left(int lane, int r, int h) {
  int const w = lane / 32, g = lane % 32 / 4, t = lane % 4;
  return {16 * w + g + 8 * (r & 1), 2 * t + h + 8 * (r >> 1)};
}
[[maybe_unused]] place wgmma_sum(int lane, int r) {
  int const w = lane / 32, g = lane % 32 / 4, t = lane % 4;
  return {16 * w + g + 8 * (r >> 1 & 1), 8 * (r >> 2) + 2 * t + (r & 1)};
}
template <class Map> void check_wgmma() {
  int sums = 0, lefts = 0;
  for (int lane = 0; lane < Map::lanes; ++lane)
    for (int block = 0; block < Map::rows / 64; ++block) {
      for (int r = 0; r < Map::cols / 2; ++r) {
        auto const at = wgmma_sum(lane, r);
        int const i = block * (Map::cols / 2) + r;
        sums += place_of<Map>(lane, i) != place{64 * block + at.row, at.col};
      }
      for (int step = 0; step < Map::cols / 16; ++step)
        for (int r = 0; r < 4; ++r)
          for (int h = 0; h < 2; ++h) {
            int const word = (block * (Map::cols / 16) + step) * 4 + r;
            auto const at = wgmma_left(lane, r, h);
            lefts +=
                place_of<Map>(lane, 2 * word + h) != place{64 * block + at.row, 16 * step + at.col};
          }
    }
  expect(sums == 0, "sums == 0");
  expect(lefts == 0, "lefts == 0");
}

// mfma LxLxk with its operands exchanged: lane l has row l % L of the left operand and of the sums;
// four k at a time, and four columns at a time, belong to lane group l / L. Which k a group has is
// free (the right operand is read to match), but the same for all rows.
template <class Map> void check_mfma() {
  std::set<int> rows;
  for (int lane = 0; lane < Map::lanes; ++lane) rows.insert(Map::lane_row(lane));
  int const L = static_cast<int>(rows.size());
  expect(L == 16 || L == 32, "L == 16 || L == 32");
  expect(Map::rows_per_lane == Map::rows / L, "Map::rows_per_lane == Map::rows / L");
  int const per_row = Map::count / Map::rows_per_lane;
  int wrong = 0;
  for (int lane = 0; lane < Map::lanes; ++lane) {
    wrong += Map::lane_row(lane) != Map::lane_row(lane % L);
    wrong += Map::lane_col(lane) != Map::lane_col(lane / L * L);
    for (int i = 0; i < Map::count; ++i)
      wrong += Map::row_index(i) != i / per_row || Map::col(i) != Map::col(i % per_row) ||
               Map::col(i) != Map::col(i / 4 * 4) + i % 4;
  }
  expect(wrong == 0, "wrong == 0");
}

template <class Map> void check_operands() {
  if constexpr (Map::lanes == 1) {  // whole tiles, row by row
    for (int i = 0; i < Map::count; ++i)
      require(place_of<Map>(0, i) == place{i / Map::cols, i % Map::cols},
              "place_of<Map>(0, i) == place{i / Map::cols, i % Map::cols}");
  } else if constexpr (be::warp_lanes == 64) {
    check_mfma<Map>();
  } else {
    static_assert(Map::lanes == 128 && be::warp_lanes == 32, "no table for these lanes yet");
    check_wgmma<Map>();
  }
}

// Flat tiles: each row in all lanes of the worker, or of one warp, in runs that fill 16 bytes of
// 16-bit elements.
template <class Map> void check_flat() {
  shape_checked = {Map::rows, Map::cols};
  check_bijective<Map>();
  check_columns<Map>();
  check_pairs<Map>();
  check_chains<Map>();
  check_part<Map, 1024>();
  bool const in_warps = Map::rows % be::worker_warps == 0;
  expect(Map::rows_per_lane == (in_warps ? Map::rows / be::worker_warps : Map::rows),
         "Map::rows_per_lane == (in_warps ? Map::rows / be::worker_warps : Map::rows)");
  expect(be::column_map<Map::rows>::count == Map::rows_per_lane,
         "be::column_map<Map::rows>::count == Map::rows_per_lane");
  std::vector<std::set<int>> warps(Map::rows);
  for (int lane = 0; lane < Map::lanes; ++lane)
    for (int s = 0; s < Map::rows_per_lane; ++s)
      warps[static_cast<std::size_t>(Map::lane_row(lane) + Map::row(s))].insert(lane /
                                                                                be::warp_lanes);
  for (auto const& held : warps)
    expect(held.size() == (in_warps ? 1 : be::worker_warps),
           "held.size() == (in_warps ? 1 : be::worker_warps)");
  int torn = 0;
  for (int lane = 0; lane < Map::lanes; ++lane)
    for (int i = 0; i < Map::count; ++i) {
      auto const first = place_of<Map>(lane, i / Map::run * Map::run), at = place_of<Map>(lane, i);
      torn += first.col % 8 != 0 || at != place{first.row, first.col + i % Map::run};
    }
  expect(Map::run == 8, "Map::run == 8");
  expect(torn == 0, "torn == 0");
}

template <class Check> int for_each_shape(Check check) {
  int shapes = 0;
  tk::test::for_each_int<1, 2, 3, 4>([&](auto blocks) {
    tk::test::for_each_int<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16>([&](auto steps) {
      using map = be::fragment_map<blocks * be::worker_rows, 16 * steps>;
      shape_checked = {map::rows, map::cols};
      check(map{});
      ++shapes;
    });
  });
  return shapes;
}

}  // namespace

TEST_CASE("every element of a tile is in one place") {
  CHECK(for_each_shape([](auto map) { check_bijective<decltype(map)>(); }) == 64);
}
TEST_CASE("row_index counts the rows of a lane") {
  CHECK(for_each_shape([](auto map) { check_rows_of_lanes<decltype(map)>(); }) == 64);
}
TEST_CASE("rows of a lane have the same columns") {
  CHECK(for_each_shape([](auto map) { check_columns<decltype(map)>(); }) == 64);
}
TEST_CASE("elements 2 i and 2 i + 1 are neighbours in a row") {
  CHECK(for_each_shape([](auto map) { check_pairs<decltype(map)>(); }) == 64);
}
TEST_CASE("columns of a tile are tiles") {
  for_each_shape([](auto map) {
    using tk::test::for_each_int;
    for_each_int<16, 32, 48, 64, 128>([&](auto v) { check_part<decltype(map), v>(); });
  });
}
TEST_CASE("chains are a power of two") {
  CHECK(for_each_shape([](auto map) { check_chains<decltype(map)>(); }) == 64);
}
TEST_CASE("tiles of few rows are flat") {
  using tk::test::for_each_int;
  for_each_int<1, 2, 3, 4, 7, 8>([](auto rows) {
    for_each_int<1024, 2048, 3072>([&](auto cols) { check_flat<be::fragment_map<rows, cols>>(); });
  });
  for_each_int<4, 8, 12>([](auto rows) { check_flat<be::fragment_map<rows, 512>>(); });
}
TEST_CASE("the layout is the instruction's, and that of its left operand") {
  CHECK(for_each_shape([](auto map) { check_operands<decltype(map)>(); }) == 64);
}
