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
    } else {
      int const lane = col + flat_places<R, V, S>::lane_col();
      TK_UNROLL
      for (int i = 0; i < map::count; i += 8) {
        auto const run = draw_run<Aligned>(
            plane, row + flat_places<R, V, S>::row(map::row_index(i)), lane + map::col(i));
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
