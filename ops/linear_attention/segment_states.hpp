// SPDX-License-Identifier: MIT
// From the sums of segments to the states that walks begin with, in place: number by number, in the
// order of segments. The place of that in which the last walk begins holds what the sequence begins
// with.
#pragma once
#include "core/block.hpp"
#include "core/partial_tiles.hpp"

namespace tk {

inline constexpr int segments_ahead = 8;  // are read together
// For so many segments a worker's lanes find factors at a time.
inline constexpr int segments_at_once =
    be::worker_lanes < segments_ahead ? segments_ahead : be::worker_lanes;

// What kernels of the block template have whose workers each take so many numbers of each state.
template <int Workers> struct segment_workers {
  static constexpr int workers = Workers, cluster = 1, stages = 1, own_slots = 1;
  struct stage {};
  struct own {};
  struct task {
    int first, steps;  // of the workers
  };
  template <class Args> static TK_BOTH task task_at(Args const&, int i, int) {
    return {i * workers, 0};
  }
  template <class Args>
  static TK_DEVICE void load(stage&, Args const&, task const&, int, be::arrival) {}
};

// By a worker, which has R * C numbers of each state as they lie in memory: the place(i)-th tile is
// that of the i-th segment of last + 1, of whose beginning kept(i) is left at its end, and which a
// walk begins with if begins(i). Before it asks for kept of segments_at_once segments from the i-th
// on, it calls find(i).
template <int R, int C, class Place, class Begins, class Find, class Kept>
TK_DEVICE void scan_segments(partial_tiles<R, C> const& states, int last, Place place,
                             Begins begins, Find find, Kept kept) {
  constexpr int ahead = segments_ahead;
  reg_tile<float, R, C> start;
  load(start, states, place(last));
  for (int i = 0; i < last; i += ahead) {
    reg_tile<float, R, C> sums[ahead];
    TK_UNROLL
    for (int k = 0; k < ahead; ++k)
      if (i + k < last) load(sums[k], states, place(i + k));
    if (i % segments_at_once == 0) find(i);
    TK_UNROLL
    for (int k = 0; k < ahead; ++k) {
      if (i + k >= last) continue;
      if (begins(i + k)) store(states, place(i + k), start);
      start = start * kept(i + k) + sums[k];
    }
  }
  store(states, place(last), start);
}
template <int R, int C, class Place, class Begins>
TK_DEVICE void scan_segments(partial_tiles<R, C> const& states, int last, Place place,
                             Begins begins) {
  scan_segments(states, last, place, begins, [](int) {}, [](int) { return 1.f; });
}

// By a lane, of numbers of which all is left: that of the i-th segment is at(i).
template <class At> TK_DEVICE void scan_segment_sums(int last, At at) {
  constexpr int ahead = segments_ahead;
  float start = at(last);
  for (int i = 0; i < last; i += ahead) {
    float sums[ahead];
    TK_UNROLL
    for (int k = 0; k < ahead; ++k)
      if (i + k < last) sums[k] = at(i + k);
    TK_UNROLL
    for (int k = 0; k < ahead; ++k) {
      if (i + k >= last) continue;
      at(i + k) = start;
      start += sums[k];
    }
  }
  at(last) = start;
}

}  // namespace tk
