// SPDX-License-Identifier: MIT
// The order in which persistent blocks take tiles; the same functions on device and host.
// grouped: tiles of `group` consecutive rows are walked column by column, so that the blocks in
// flight share few rows and few columns of the inputs, and these stay in the L2 cache.
// even_shares: where tiles don't fill the last round of blocks, some of them are cut along k, so
// that every block gets the same number of steps (Osama et al., "Stream-K", PPoPP 2023).
#pragma once
#include <cstdint>

#include "backends/select.hpp"

#include TK_CHIP(arch.hpp)

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

// The last `tiles` tiles of a launch, `steps` steps each, as one row of steps that is cut into
// `shares` equal shares. A share meets `pieces` tiles at most; its n-th piece is what it has of the
// n-th of them. The share that has a tile's first step finishes the tile; the others park what they
// have, each one piece at most, its first.
struct even_shares {
  int tiles, steps, shares, pieces;

  TK_BOTH constexpr std::int64_t begin(int share) const {
    return std::int64_t{tiles} * steps * share / shares;
  }
  struct piece {
    int tile, first, steps;  // of the tile's steps; steps is 0 where there is no such piece
    TK_BOTH constexpr bool finishes() const { return first == 0; }
  };
  TK_BOTH constexpr piece at(int share, int n) const {
    std::int64_t const from = begin(share), to = begin(share + 1);
    int const tile = static_cast<int>(from / steps) + n;
    std::int64_t const top = std::int64_t{tile} * steps;
    std::int64_t const first = from > top ? from : top, last = to < top + steps ? to : top + steps;
    return {tile, static_cast<int>(first - top), last > first ? static_cast<int>(last - first) : 0};
  }
  // How many steps the longest share takes, where parking a piece, or taking it up, takes `cost`.
  // Shares that straddle tiles are at different steps of k, and share less in the L2 cache: a
  // quarter slower (H200, 4096 cubed), unless nearly all are at one of two.
  TK_BOTH constexpr std::int64_t longest(int cost) const {
    if (tiles == 0) return 0;
    std::int64_t const each = std::int64_t{steps} * tiles / shares + 1;
    bool const scattered = pieces > 1 && 20 * tiles > 11 * shares;
    return each + (scattered ? each / 4 : 0) + std::int64_t{cost} * ceil_div(shares, tiles);
  }
  // Whether `share` has a part of the tile, where an earlier one finishes it.
  TK_BOTH constexpr bool continues(int share, int tile) const {
    return share < shares && begin(share) < std::int64_t{tile + 1} * steps;
  }
};

// How to share out `tiles` tiles of `steps` steps among `blocks` blocks, where parking a piece, or
// taking it up, costs as much as `cost` steps. The tiles of the last round are cut: each into equal
// pieces, as many as there are blocks for and as pays; or, where they take more than half of the
// blocks, into shares that straddle tiles. No tile is cut (tiles = 0) where that gains nothing, or
// where `cost` is 0.
TK_BOTH constexpr even_shares share_evenly(int tiles, int steps, int blocks, int cost) {
  int const rest = tiles % blocks;
  if (cost == 0 || steps == 0 || rest == 0) return {};
  int parts = blocks / rest;
  while (parts > 1 && std::int64_t{parts} * parts * cost > steps) --parts;
  even_shares const x =
      parts > 1 ? even_shares{rest, steps, rest * parts, 1} : even_shares{rest, steps, blocks, 2};
  return x.longest(cost) < steps ? x : even_shares{};
}

// Steps from one end to the other of a launch of `tiles` tiles, of which the last are cut.
TK_BOTH constexpr std::int64_t steps_of_launch(std::int64_t tiles, int steps, int blocks,
                                               even_shares const& cut, int cost) {
  std::int64_t const whole = tiles - cut.tiles;
  return (whole + blocks - 1) / blocks * steps + cut.longest(cost);
}

}  // namespace tk
