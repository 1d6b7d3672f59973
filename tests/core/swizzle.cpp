// SPDX-License-Identifier: MIT
// Swizzles as properties: a bijection, its own inverse, and the hardware's pattern, which is an XOR
// of address bits. Then the price: how often the banks must be visited for each access pattern that
// a backend uses, counted from the layout.
#include "core/layout.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "backends/kernel.hpp"
#include "tests/core/shapes.hpp"

namespace {

// PTX ISA, "Swizzling modes": address bits 4..6 (4..5, 4) are XORed with bits 7..9 (7..8, 7).
constexpr int hardware(int row_bytes, int offset) {
  int const mask = row_bytes == 128 ? 7 : row_bytes == 64 ? 3 : 1;
  return offset ^ (offset >> 7 & mask) << 4;
}

template <int RowBytes> void check_swizzle() {
  using swizzle = tk::chunk_swizzle<RowBytes>;
  constexpr int rows = 256;
  std::vector<int> times(rows * RowBytes);
  int wrong = 0;
  for (int row = 0; row < rows; ++row)
    for (int byte = 0; byte < RowBytes; ++byte) {
      int const offset = swizzle::offset(row, byte);
      REQUIRE(offset >= 0);
      REQUIRE(offset < rows * RowBytes);
      ++times[static_cast<std::size_t>(offset)];
      auto const back = swizzle::at(offset);
      wrong += back.row != row || back.byte != byte;
      wrong += offset != hardware(RowBytes, row * RowBytes + byte);
      wrong += swizzle::chunk(row, swizzle::chunk(row, byte / 16)) != byte / 16;
    }
  CHECK(wrong == 0);
  CHECK(times == std::vector<int>(rows * RowBytes, 1));
}

}  // namespace

TEST_CASE("a swizzle is a bijection, its own inverse, and the hardware's") {
  tk::test::for_each_int<32, 64, 128>([](auto row_bytes) {
    CAPTURE(row_bytes());
    check_swizzle<row_bytes>();
  });
}

TEST_CASE("bank_passes counts what is known") {
  auto const strided = [](int bytes) {
    return [=](int lane) { return (long long){lane} * bytes; };
  };
  CHECK(tk::bank_passes(32, 4, strided(4)) == 1);  // 32 neighbours
  CHECK(tk::bank_passes(32, 4, strided(0)) == 1);  // one word for all
  CHECK(tk::bank_passes(32, 4, strided(8)) == 2);
  CHECK(tk::bank_passes(32, 4, strided(128)) == 32);  // one bank for all
  CHECK(tk::bank_passes(32, 4, strided(132)) == 1);   // a padded column
  CHECK(tk::bank_passes(32, 2, strided(2)) == 1);
  CHECK(tk::bank_passes(32, 8, strided(8)) == 1);
  CHECK(tk::bank_passes(32, 8, strided(128)) == 16);
  CHECK(tk::bank_passes(32, 16, strided(16)) == 1);
  CHECK(tk::bank_passes(32, 16, strided(128)) == 8);  // eight rows, without a swizzle
  CHECK(tk::bank_passes(64, 16, strided(16)) == 1);
  CHECK(tk::bank_passes(64, 4, [](int lane) { return 4LL * (lane % 32); }) == 1);
}

// The swizzle itself: eight rows at one chunk (what matrix loads ask for in one go), and the chunks
// of rows one after another (what copies ask for).
TEST_CASE("eight rows at one chunk, and a run of chunks, fall on different banks") {
  tk::test::for_each_int<32, 64, 128>([](auto row_bytes) {
    using swizzle = tk::chunk_swizzle<row_bytes>;
    CAPTURE(row_bytes());
    for (int row = 0; row < 256; row += 8)
      for (int c = 0; c < swizzle::chunks; ++c)
        REQUIRE(tk::bank_passes(8, 16, [=](int lane) {
                  return static_cast<long long>(swizzle::offset(row + lane, 16 * c));
                }) == 1);
    for (int first = 0; first < 64 * swizzle::chunks; first += 8)
      REQUIRE(tk::bank_passes(8, 16, [=](int lane) {
                int const n = first + lane;
                return static_cast<long long>(
                    swizzle::offset(n / swizzle::chunks, n % swizzle::chunks * 16));
              }) == 1);
  });
}

namespace {

namespace be = tk::be;

template <class Tile>
concept in_banks = requires { Tile::offset(0, 0); };

// Passes over the banks for one access of a warp, at the worst place of a tile.
template <class Tile, class Position>
int passes(int lanes, int bytes, int places, Position position) {
  int worst = 0;
  for (int n = 0; n < places; ++n) {
    int const found = tk::bank_passes(lanes, bytes, [&](int lane) {
      auto const [row, col] = position(n, lane);
      return static_cast<long long>(Tile::offset(row, col));
    });
    worst = found > worst ? found : worst;
  }
  return worst;
}
struct place {
  int row, col;
};

// Eight rows at one chunk: a matrix of stmatrix and ldmatrix.
template <class Tile> int matrix_passes() {
  constexpr int per_chunk = 16 / int{sizeof(typename Tile::element)},
                chunks = Tile::cols / per_chunk;
  return passes<Tile>(8, 16, Tile::rows / 8 * chunks, [](int n, int lane) {
    return place{n / chunks * 8 + lane, n % chunks * per_chunk};
  });
}
// A warp's chunks of one row after another: a plain copy.
template <class Tile> int copy_passes() {
  constexpr int per_chunk = 16 / int{sizeof(typename Tile::element)},
                chunks = Tile::cols / per_chunk;
  return passes<Tile>(be::warp_lanes, 16, Tile::rows * chunks / be::warp_lanes,
                      [](int n, int lane) {
                        int const i = n * be::warp_lanes + lane;
                        return place{i / chunks, i % chunks * per_chunk};
                      });
}
// Elements of a fragment, `Width` neighbours at a time.
template <class Tile, int Width> int fragment_passes() {
  using map = be::fragment_map<Tile::rows, Tile::cols>;
  constexpr int warps = map::lanes / be::warp_lanes, per_lane = map::count / Width;
  return passes<Tile>(
      be::warp_lanes, Width * int{sizeof(typename Tile::element)}, warps * per_lane,
      [](int n, int lane) {
        int const l = n / per_lane * be::warp_lanes + lane, i = n % per_lane * Width;
        return place{map::lane_row(l) + map::row(map::slot(i)), map::lane_col(l) + map::col(i)};
      });
}

}  // namespace
TEST_CASE("p") {
  tk::test::for_each_int<16, 32, 48, 64, 96, 128, 256>([](auto c) {
    using h = tk::shared_tile<tk::bf16, be::worker_rows, c>;
    using f = tk::shared_tile<float, be::worker_rows, c>;
    if constexpr (in_banks<h>)
      MESSAGE(c(), " ", matrix_passes<h>(), " ", copy_passes<h>(), " ", copy_passes<f>(), " ",
              fragment_passes<f, 1>(), " ", fragment_passes<f, 2>());
  });
}
