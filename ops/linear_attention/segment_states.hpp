// SPDX-License-Identifier: MIT
// From the sums of segments to the states that they begin with, in place: number by number, in the
// order of segments. The last segment's place holds what the sequence begins with.
#pragma once
#include "core/partial_tiles.hpp"

namespace tk {

// By a worker, which has R * C numbers of each state as they lie in memory: the place(i)-th tile is
// that of the i-th segment of last + 1, of whose beginning kept(i) is left at its end.
template <int R, int C, class Place, class Kept>
TK_DEVICE void scan_segments(partial_tiles<R, C> const& states, int last, Place place, Kept kept) {
  constexpr int ahead = 4;  // are read together
  reg_tile<float, R, C> start;
  load(start, states, place(last));
  for (int i = 0; i < last; i += ahead) {
    reg_tile<float, R, C> sums[ahead];
    float left[ahead];
    TK_UNROLL
    for (int k = 0; k < ahead; ++k)
      if (i + k < last) {
        load(sums[k], states, place(i + k));
        left[k] = kept(i + k);
      }
    TK_UNROLL
    for (int k = 0; k < ahead; ++k) {
      if (i + k >= last) continue;
      store(states, place(i + k), start);
      start = start * left[k] + sums[k];
    }
  }
  store(states, place(last), start);
}

}  // namespace tk
