// SPDX-License-Identifier: MIT
// Layouts as constexpr values, and what is asked of them.
// A fragment map says which elements of an R x C tile a lane holds. It is affine:
//   (lane, i) -> (lane_row(lane) + row(row_index(i)), lane_col(lane) + col(i)),   0 <= i < count
// so that masks and broadcasts compare with constants. row_index(i) says in which of the lane's
// rows, 0 ... rows_per_lane - 1, element i lies; in all of them a lane has the same columns.
// lane_row and lane_col are sums over the bits of the lane's number: a bit whose lane_col is 0
// leads to a lane with the same columns. A swizzle says where a 16-byte chunk of a shared row lies.
#pragma once
#include <concepts>

#include "backends/backend.hpp"

namespace tk {

template <class Map>
concept fragment_layout = requires(int x) {
  { Map::rows } -> std::convertible_to<int>;
  { Map::cols } -> std::convertible_to<int>;
  { Map::lanes } -> std::convertible_to<int>;          // of one worker
  { Map::count } -> std::convertible_to<int>;          // elements a lane holds
  { Map::rows_per_lane } -> std::convertible_to<int>;  // rows among them
  { Map::chains } -> std::convertible_to<int>;         // independent running values of a reduction
  { Map::row_index(x) } -> std::same_as<int>;
  { Map::element(x, x) } -> std::same_as<int>;  // of (r, k): in row r and column k of the lane's
  { Map::nth(x) } -> std::same_as<int>;         // which of the lane's columns, k, that is
  { Map::row(x) } -> std::same_as<int>;
  { Map::col(x) } -> std::same_as<int>;
  { Map::lane_row(x) } -> std::same_as<int>;
  { Map::lane_col(x) } -> std::same_as<int>;
};

// Rows of RowBytes bytes (32, 64 or 128), whose 16-byte chunks are permuted by the row, such that
// eight rows at one chunk, and one row's chunks, fall on different banks as far as they can:
//   (row, chunk) -> chunk ^ ((row * RowBytes / 128) % (RowBytes / 16))
// the pattern of the 128-, 64- and 32-byte swizzles (PTX ISA, "Swizzling modes").
template <int RowBytes> struct chunk_swizzle {
  static_assert(RowBytes == 32 || RowBytes == 64 || RowBytes == 128);
  static constexpr int row_bytes = RowBytes, chunks = RowBytes / 16;
  static TK_BOTH constexpr int chunk(int row, int c) { return c ^ (row * RowBytes / 128 % chunks); }
  // Byte of (row, byte of the row), and back.
  static TK_BOTH constexpr int offset(int row, int byte) {
    return row * RowBytes + chunk(row, byte / 16) * 16 + byte % 16;
  }
  struct place {
    int row, byte;
  };
  static TK_BOTH constexpr place at(int offset) {
    int const row = offset / RowBytes, in = offset % RowBytes;
    return {row, chunk(row, in / 16) * 16 + in % 16};
  }
};

// How often the 32 banks of 4 bytes must be visited for `lanes` accesses of `bytes` each at
// address(lane), served in groups that together ask for 128 bytes: 1 is free of conflicts.
template <class Address> constexpr int bank_passes(int lanes, int bytes, Address address) {
  int worst = 0;
  int const group = bytes <= 4 ? lanes : 128 / bytes;
  for (int first = 0; first < lanes; first += group) {
    long long line[32][64]{};
    int used[32]{}, passes = 0;
    for (int lane = first; lane < first + group && lane < lanes; ++lane)
      for (int b = 0; b < bytes; b += 4) {
        long long const word = (address(lane) + b) / 4;
        int const bank = static_cast<int>(word % 32);
        bool seen = false;
        for (int k = 0; k < used[bank]; ++k) seen |= line[bank][k] == word;
        if (!seen) line[bank][used[bank]++] = word;
        if (used[bank] > passes) passes = used[bank];
      }
    if (passes > worst) worst = passes;
  }
  return worst;
}

}  // namespace tk
