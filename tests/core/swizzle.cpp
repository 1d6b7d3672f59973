// SPDX-License-Identifier: MIT
// Swizzles as properties: a bijection, its own inverse, and the hardware's pattern, which is an XOR
// of address bits. Then the backend's shared tiles: each element has its place, and the price,
// which is how often the banks must be visited for each access pattern that the backend uses.
#include "core/layout.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "backends/kernel.hpp"
#include "core/copy_transposed.hpp"
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

// Tiles that copy_transposed fills by rows and reads by columns.
namespace {

template <class T, int R, int C> void check_transposing() {
  using tile = tk::transposing_tile<T, R, C>;
  constexpr int n = tile::in_chunk, all = R * tile::chunks, down = R / n, warp = 32;
  std::vector<int> times(all);
  for (int i = 0; i < all; ++i)
    ++times[static_cast<std::size_t>(tile::place(i / tile::chunks, i % tile::chunks))];
  CHECK(times == std::vector<int>(all, 1));
  for (int first = 0; first < all; first += warp) {
    REQUIRE(tk::bank_passes(warp, 16, [=](int lane) {
              int const i = first + lane;
              return 16LL * tile::place(i / tile::chunks, i % tile::chunks);
            }) == 1);
    for (int e = 0; e < n; ++e)  // the e-th element of chunks of the destination
      REQUIRE(tk::bank_passes(warp, 4, [=](int lane) {
                int const i = first + lane, col = i / down, row = i % down * n + e;
                int const word = col % n * int{sizeof(T)} / 4;
                return 16LL * tile::place(row, col / n) + 4 * word;
              }) == 1);
  }
}

}  // namespace

TEST_CASE("chunks of rows, and elements of columns, fall on different banks") {
  check_transposing<tk::fp8_e4m3, 64, 128>();
  check_transposing<tk::bf16, 64, 64>();
  check_transposing<float, 32, 64>();
}

// ---- the backend's shared tiles
namespace {

namespace be = tk::be;

struct place {
  int row, col;
};
// Passes over the banks for one access by `lanes`, at the worst of some positions in a tile.
template <class Tile, class Position>
int passes(int lanes, int bytes, int positions, Position position) {
  int worst = 0;
  for (int n = 0; n < positions; ++n) {
    int const found = tk::bank_passes(lanes, bytes, [&](int lane) {
      place const at = position(n, lane);
      return static_cast<long long>(Tile::offset(at.row, at.col));
    });
    worst = found > worst ? found : worst;
  }
  return worst;
}

template <class Tile> void check_places() {
  using T = typename Tile::element;
  constexpr int size = sizeof(T), bytes = Tile::rows * Tile::cols * size;
  std::vector<int> times(bytes / size);
  int wrong = 0;
  for (int row = 0; row < Tile::rows; ++row)
    for (int col = 0; col < Tile::cols; ++col) {
      int const offset = Tile::offset(row, col);
      REQUIRE(offset >= 0);
      REQUIRE(offset < bytes);
      wrong += offset % size != 0 || (offset ^ Tile::offset(row, col & ~(16 / size - 1))) >= 16;
      ++times[static_cast<std::size_t>(offset / size)];
    }
  CHECK(wrong == 0);
  CHECK(times == std::vector<int>(times.size(), 1));
}

// Chunks of 16 bytes of one row after another: a copy.
template <class Tile> int copy_passes() {
  constexpr int per_chunk = 16 / int{sizeof(typename Tile::element)};
  constexpr int chunks = Tile::cols / per_chunk, lanes = be::warp_lanes;
  return passes<Tile>(lanes, 16, Tile::rows * chunks / lanes, [](int n, int lane) {
    int const i = n * lanes + lane;
    return place{i / chunks, i % chunks * per_chunk};
  });
}
// Neighbours that a lane holds, at most 16 bytes of them: what a register tile is stored and loaded
// in.
template <class Tile> constexpr int neighbours() {
  using map = be::fragment_map<Tile::rows, Tile::cols>;
  int n = 1;
  while (2 * n * int{sizeof(typename Tile::element)} <= 16 && map::col(2 * n - 1) == 2 * n - 1)
    n *= 2;
  return n;
}
template <class Tile> int fragment_passes() {
  using map = be::fragment_map<Tile::rows, Tile::cols>;
  constexpr int size = sizeof(typename Tile::element), width = neighbours<Tile>();
  int const warps = map::lanes / be::warp_lanes, per_lane = map::count / width;
  return passes<Tile>(be::warp_lanes, width * size, warps * per_lane, [=](int n, int lane) {
    int const l = n / per_lane * be::warp_lanes + lane, i = n % per_lane * width;
    return place{map::lane_row(l) + map::row(map::row_index(i)), map::lane_col(l) + map::col(i)};
  });
}
// Eight rows at one chunk: a matrix of stmatrix and ldmatrix.
template <class Tile> int matrix_passes() {
  constexpr int per_chunk = 16 / int{sizeof(typename Tile::element)};
  constexpr int chunks = Tile::cols / per_chunk;
  return passes<Tile>(8, 16, Tile::rows / 8 * chunks, [](int n, int lane) {
    return place{n / chunks * 8 + lane, n % chunks * per_chunk};
  });
}

// mfma with lanes in groups of L: Run k of one row each, rows as a left operand has them.
template <class Tile, int Run> int left_passes() {
  using map = be::fragment_map<Tile::rows, 64>;
  constexpr int L = map::rows / map::rows_per_lane, span = Run * (64 / L);
  return passes<Tile>(64, Tile::size * Run, map::rows_per_lane * (Tile::cols / span),
                      [](int n, int lane) {
                        return place{map::lane_row(lane) + map::row(n % map::rows_per_lane),
                                     n / map::rows_per_lane * span + Run * (lane / L)};
                      });
}
// The column of a right operand that mfma's row l % L is, where blocks of Stride are interleaved,
// so that sums come out as the fragment has them: row 4 G q + 4 g + s is element 4 q + s of group
// g.
template <class Map, int Stride> int right_column(int lane) {
  constexpr int L = Map::rows / Map::rows_per_lane, G = 64 / L;
  int const i = lane % L, element = (i / (4 * G) * 4 + i % 4) * Stride;
  return Map::lane_col(i / 4 % G * L) + Map::col(element);
}
// It lies [n, k]: Run k of one row each.
template <class Tile, int Run, int Stride, class Map> int right_passes() {
  constexpr int L = Map::rows / Map::rows_per_lane, span = Run * (64 / L),
                steps = Tile::cols / span;
  if constexpr (steps == 0) return 0;
  else
    return passes<Tile>(64, Tile::size * Run, Tile::rows / (L * Stride) * steps,
                        [](int n, int lane) {
                          return place{n / steps * L * Stride + right_column<Map, Stride>(lane),
                                       n % steps * span + Run * (lane / L)};
                        });
}
// It lies [k, n]: a word, which is two columns, of each of Run rows, by half a wave at a time.
template <class Tile, int Run, class Map> int across_passes() {
  constexpr int L = Map::rows / Map::rows_per_lane, span = Run * (64 / L),
                blocks = Tile::cols / (2 * L);
  if constexpr (blocks == 0) return 0;
  else
    return passes<Tile>(32, 4, 2 * Run * blocks * (Tile::rows / span), [](int n, int half_lane) {
      int const lane = half_lane + n % 2 * 32, i = n / 2 % Run, at = n / 2 / Run;
      return place{at / blocks * span + Run * (lane / L) + i,
                   at % blocks * 2 * L + right_column<Map, 2>(lane)};
    });
}

// The same by transposing reads: 16 lanes name four columns each, of four rows.
template <class Tile> int transposing_passes() {
  constexpr int blocks = Tile::cols / 16;
  return passes<Tile>(16, 8, Tile::rows / 4 * blocks, [](int n, int lane) {
    return place{n / blocks * 4 + lane / 4, n % blocks * 16 + lane % 4 * 4};
  });
}

// 16 bytes at a time meet no conflict; 8 bytes at a time, which is all of fp8, take two passes,
// because eight rows want the same half of a chunk. Narrow panels side by side are an exception
// wherever rows are read across.
template <class Tile, int Rows> void check_fp8_reads() {
  using map = be::fragment_map<Rows, 64>;
  CHECK(right_passes<Tile, 8, 1, map>() <= 2);
  CHECK(right_passes<Tile, 8, 2, map>() <= 2);
}
template <class Tile, int Rows> void check_mfma_reads(bool whole) {
  using map = be::fragment_map<Rows, 64>;
  CHECK(right_passes<Tile, 8, 1, map>() <= 1);
  CHECK(right_passes<Tile, 8, 2, map>() <= 1);
  CHECK(right_passes<Tile, 4, 1, map>() <= 2);
  CHECK(right_passes<Tile, 4, 2, map>() <= 2);
  CHECK(across_passes<Tile, 8, map>() <= (whole ? 1 : 2));
  CHECK(across_passes<Tile, 4, map>() <= (whole ? 2 : 4));
}

template <class Tile> void check_banks() {
  constexpr int size = sizeof(typename Tile::element), width = Tile::cols * size;
  CAPTURE(Tile::rows);
  CAPTURE(Tile::cols);
  CAPTURE(size);
  check_places<Tile>();
  if constexpr (be::warp_lanes > 1) {  // else there are no banks
    constexpr bool whole = width % 128 == 0 || width == 64 || width == 32;
    CHECK(copy_passes<Tile>() <= (whole ? 1 : 3));
    constexpr int held = neighbours<Tile>() * size;  // of fp8, 64 lanes ask for 256 bytes at once
    CHECK(fragment_passes<Tile>() <= (held == 8 || held * be::warp_lanes == 256 ? 2 : 1));
    if constexpr (be::warp_lanes != 64) {
      CHECK(matrix_passes<Tile>() == 1);
    } else if constexpr (size == 2) {
      CHECK(transposing_passes<Tile>() == 1);
      CHECK(left_passes<Tile, 8>() <= 1);
      CHECK(left_passes<Tile, 4>() <= 2);
      check_mfma_reads<Tile, 16>(whole);
      check_mfma_reads<Tile, 32>(whole);
    } else if constexpr (size == 1) {
      CHECK(left_passes<Tile, 8>() <= 2);
      check_fp8_reads<Tile, 16>();
      check_fp8_reads<Tile, 32>();
    }
  }
}

}  // namespace

TEST_CASE("the backend's shared tiles: a place for each element, few passes over the banks") {
  tk::test::for_each_int<1, 2, 3, 4>([](auto blocks) {
    tk::test::for_each_int<16, 32, 48, 64, 96, 128, 256>([&](auto cols) {
      check_banks<tk::shared_tile<tk::bf16, blocks * be::worker_rows, cols>>();
      check_banks<tk::shared_tile<float, blocks * be::worker_rows, cols>>();
    });
    tk::test::for_each_int<32, 64, 96, 128, 256>([&](auto cols) {
      check_banks<tk::shared_tile<tk::fp8_e4m3, blocks * be::worker_rows, cols>>();
    });
  });
}
