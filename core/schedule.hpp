// SPDX-License-Identifier: MIT
// The order in which persistent blocks take tiles; the same functions on device and host.
// grouped: tiles of `group` consecutive rows are walked column by column, so that the blocks in
// flight share few rows and few columns of the inputs, and these stay in the L2 cache.
// even_splits: where tiles don't fill the last round of blocks, some of them are cut along k, so
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

// The last `tiles` tiles of a launch, `steps` steps each, as one row of tiles * steps steps, cut
// into `splits` runs of equal length. A split meets at most `pieces` tiles; its n-th piece is its
// part of the n-th tile it meets. The split with a tile's first step finishes that tile. Every
// other split that meets the tile stores its partial sum; that is always the split's first piece.
struct even_splits {
  int tiles, steps, splits, pieces;

  TK_BOTH constexpr std::int64_t begin(int split) const {
    return std::int64_t{tiles} * steps * split / splits;
  }
  struct piece {
    int tile, first, steps;  // of the tile's steps; steps is 0 where there is no such piece
    TK_BOTH constexpr bool finishes() const { return first == 0; }
  };
  TK_BOTH constexpr piece at(int split, int n) const {
    std::int64_t const from = begin(split), to = begin(split + 1);
    int const tile = static_cast<int>(from / steps) + n;
    std::int64_t const top = std::int64_t{tile} * steps;
    std::int64_t const first = from > top ? from : top, last = to < top + steps ? to : top + steps;
    return {tile, static_cast<int>(first - top), last > first ? static_cast<int>(last - first) : 0};
  }
  // How many steps the longest split takes, where storing or adding a partial sum takes `cost`.
  // Splits that straddle tiles are at different steps of k, and have less in common in the L2
  // cache: a quarter slower (4096 cubed), unless nearly all are at one of two.
  TK_BOTH constexpr std::int64_t longest(int cost) const {
    if (tiles == 0) return 0;
    std::int64_t const each = std::int64_t{steps} * tiles / splits + 1;
    bool const scattered = pieces > 1 && 20 * tiles > 11 * splits;
    return each + (scattered ? each / 4 : 0) + std::int64_t{cost} * ceil_div(splits, tiles);
  }
  // Whether `split` has a piece of a tile that an earlier split finishes.
  TK_BOTH constexpr bool continues(int split, int tile) const {
    return split < splits && begin(split) < std::int64_t{tile + 1} * steps;
  }
};

// How to cut `tiles` tiles of `steps` steps for `blocks` blocks, where storing or adding a partial
// sum costs as much as `cost` steps. The tiles of the last round are cut: each into equal
// pieces, as many as there are blocks for and as pays; or, where they take more than half of the
// blocks, into splits that straddle tiles. No tile is cut (tiles = 0) where that gains nothing, or
// where `cost` is 0.
TK_BOTH constexpr even_splits split_evenly(int tiles, int steps, int blocks, int cost) {
  int const rest = tiles % blocks;
  if (cost == 0 || steps == 0 || rest == 0) return {};
  int each = blocks / rest;  // splits of one tile
  while (each > 1 && std::int64_t{each} * each * cost > steps) --each;
  even_splits const x =
      each > 1 ? even_splits{rest, steps, rest * each, 1} : even_splits{rest, steps, blocks, 2};
  return x.longest(cost) < steps ? x : even_splits{};
}

// Steps from one end to the other of a launch of `tiles` tiles, of which the last are cut.
TK_BOTH constexpr std::int64_t steps_of_launch(std::int64_t tiles, int steps, int blocks,
                                               even_splits const& cut, int cost) {
  std::int64_t const whole = tiles - cut.tiles;
  return (whole + blocks - 1) / blocks * steps + cut.longest(cost);
}

}  // namespace tk
