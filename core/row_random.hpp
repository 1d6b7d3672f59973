// SPDX-License-Identifier: MIT
// Random bytes where rows of the row template meet them (core/row_kernel.hpp): an expression of
// which elements are kept whose byte is not below a number, by the spread of core/random.hpp that
// is for rows.
#pragma once
#include "core/random.hpp"
#include "core/row_part.hpp"

namespace tk {

// V columns of a lane's rows from column `col` of row `row` on, which lie S rows apart; Aligned:
// its runs begin at multiples of 8. Where `below` is 0 all are kept, and nothing is drawn.
template <int R, int V, int S, bool Aligned, class X> struct kept_at_random {
  using map = be::fragment_map<R, V>;
  static constexpr int rows = R, cols = V;
  static_assert(operand<X>::cols == 1 || operand<X>::cols == V,
                "random bytes meet what a part of the rows has");
  operand<X> x;
  unsigned below;
  std::conditional_t<whole_rows, std::uint8_t, std::uint32_t>
      bytes[map::count / (whole_rows ? 1 : 4)];

  TK_DEVICE kept_at_random(X const& of, random_plane const& plane, unsigned b, int row, int col)
      : x{of}, below(b) {
    if (below == 0) {
      TK_UNROLL
      for (auto& e : bytes) e = 0;
    } else if constexpr (whole_rows) {
      draw_whole(plane, row, col);
    } else if constexpr (in_pairs) {
      TK_UNROLL
      for (int i = 0; i < map::count; i += 16) draw_two(plane, row, col, i);
    } else {
      TK_UNROLL
      for (int i = 0; i < map::count; i += 8) {
        auto const run = draw_run<Aligned>(plane, row_of(row, i), col_of(col, i));
        bytes[i / 4] = run.w[0], bytes[i / 4 + 1] = run.w[1];
      }
    }
  }
  template <class Map> TK_DEVICE float element(int i, int r) const {
    unsigned byte;
    if constexpr (whole_rows) byte = bytes[i];
    else byte = bytes[i / 4] >> i % 4 * 8 & 255;
    return byte >= below ? x.template element<Map>(i, r) : 0.f;
  }

 private:
  using places = flat_places<R, V, S>;
  // Two lanes side by side have the halves of a call, in each of their runs: the first draws what
  // both have in one of two runs, the second what they have in the other.
  static constexpr bool in_pairs = !whole_rows && Aligned && map::count % 16 == 0 && V / S >= 16 &&
                                   map::lane_col(1) - map::lane_col(0) == 8;
  // Of the run from element i on.
  static TK_DEVICE int row_of(int row, int i) { return row + places::row(map::row_index(i)); }
  static TK_DEVICE int col_of(int col, int i) { return col + places::lane_col() + map::col(i); }
  TK_DEVICE void draw_two(random_plane const& plane, int row, int col, int i) {
    bool const second = be::worker_lane() % 2 != 0;
    auto const drawn =
        plane.call(static_cast<std::uint32_t>(second ? row_of(row, i + 8) : row_of(row, i)),
                   static_cast<std::uint32_t>((second ? col_of(col, i + 8) : col_of(col, i)) >> 4));
    TK_UNROLL
    for (int k = 0; k < 2; ++k) {
      auto const own = second ? drawn.w[2 + k] : drawn.w[k];
      auto const other = shuffle_word(second ? drawn.w[k] : drawn.w[2 + k], 1);
      bytes[i / 4 + k] = second ? other : own;
      bytes[i / 4 + 2 + k] = second ? own : other;
    }
  }
  // All bytes of each call, where columns begin at a multiple of 16.
  void draw_whole(random_plane const& plane, int row, int col) {
    static_assert(!whole_rows || (Aligned && V % 16 == 0));
    for (int i = 0; i < map::count; i += 16) {
      auto const words = plane.call(static_cast<std::uint32_t>(row + i / V),
                                    static_cast<std::uint32_t>((col + i % V) / 16));
      for (int k = 0; k < 16; ++k)
        bytes[i + k] = static_cast<std::uint8_t>(words.w[k / 4] >> k % 4 * 8);
    }
  }
};
template <int R, int V, int S, bool Aligned, class X>
inline constexpr bool is_lazy<kept_at_random<R, V, S, Aligned, X>> = true;
template <int R, int V, int S, bool Aligned, class X>
struct operand<kept_at_random<R, V, S, Aligned, X>> : kept_at_random<R, V, S, Aligned, X> {};

}  // namespace tk
