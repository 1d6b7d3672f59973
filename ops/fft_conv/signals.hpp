// SPDX-License-Identifier: MIT
// Sequences in global memory as the long convolution reads and writes them: eight neighbours at a
// time, a run, from any place on. What lies outside of a sequence is 0, or where it wraps, its
// other end.
#pragma once
#include "core/chunk.hpp"
#include "core/partial_tiles.hpp"
#include "core/tile_runs.hpp"

namespace tk {

// x[b, h, n]; data may be null.
template <class T> struct strided_sequences {
  T* data;
  std::int64_t b_stride, h_stride;
  TK_BOTH T* of(int b, int h) const { return data + (b * b_stride + h * h_stride); }
};

template <class T> TK_BOTH bool begins_chunk(T const* x) {
  return reinterpret_cast<std::uintptr_t>(x) % 16 == 0;
}
template <class T> TK_DEVICE run_of_eight widen_run(chunk16 const& x) {
  run_of_eight y;
  TK_UNROLL
  for (int i = 0; i < 8; ++i) y.x[i] = half_of<T>(x.w[i / 2], i);
  return y;
}
// Times a power of two.
template <class T> TK_DEVICE run_of_eight scaled_by_power(chunk16 const& x, float by) {
  if constexpr (std::is_same_v<T, bf16>) {  // which has the same ones as fp32
    auto const both = be::pack(T{}, by, by);
    chunk16 y;
    TK_UNROLL
    for (int i = 0; i < 4; ++i) y.w[i] = be::multiply_pairs(T{}, x.w[i], both);
    return widen_run<T>(y);
  } else {
    return scaled(widen_run<T>(x), by);
  }
}

// Elements p, ..., p + 7 of n.
template <class T> TK_DEVICE run_of_eight read_run(T const* x, int p, int n, bool wraps) {
  run_of_eight y{};
  if (wraps) {
    p %= n;
    if (p < 0) p += n;
    if (p + 8 > n) {
      TK_ROLL
      for (int i = 0; i < 8; ++i) y.x[i] = be::widen(x[(p + i) % n]);
      return y;
    }
  } else if (p + 8 <= 0 || p >= n) {
    return y;
  }
  int const first = p < 0 ? -p : 0, left = n - p < 8 ? n - p : 8;
  T const* const from = x + p;
  if constexpr (sizeof(T) == 2) {
    chunk_words<T> words;
    words.template read<false>(from, first, left, begins_chunk(from));
    TK_UNROLL
    for (int i = 0; i < 8; ++i) y.x[i] = half_of<T>(words.w[i / 2], i);
  } else if (first == 0 && left == 8 && begins_chunk(from)) {
    TK_UNROLL
    for (int i = 0; i < 8; i += 4) {
      auto const four = *reinterpret_cast<four_floats const*>(from + i);
      TK_UNROLL
      for (int e = 0; e < 4; ++e) y.x[i + e] = four.x[e];
    }
  } else {
    TK_UNROLL
    for (int i = 0; i < 8; ++i)
      if (first <= i && i < left) y.x[i] = from[i];
  }
  return y;
}

// The eight elements from `to` on, which is at a multiple of 16 bytes.
template <class T> TK_DEVICE void write_chunk(T* to, run_of_eight const& y) {
  if constexpr (sizeof(T) == 2) {
    std::uint32_t w[4];
    TK_UNROLL
    for (int i = 0; i < 4; ++i) w[i] = be::pack(T{}, y.x[2 * i], y.x[2 * i + 1]);
    be::write_16_bytes(to, w);
  }
}
// To elements p, ... of n, p from 0 on.
template <class T> TK_DEVICE void write_run(T* x, int p, int n, run_of_eight const& y) {
  TK_UNROLL
  for (int i = 0; i < 8; ++i)
    if (p + i < n) put(x + p + i, y.x[i]);
}

// A sequence and what gates it, element by element.
template <class T> struct gated_sequence {
  T const *x, *gate;  // gate may be null
  int n;
  bool wraps;

  TK_DEVICE run_of_eight read(int p) const {
    auto const y = read_run(x, p, n, wraps);
    return gate ? product_of(y, read_run(gate, p, n, wraps)) : y;
  }
  // Whether runs that begin at multiples of eight are chunks of 16 bytes, all there or none, and of
  // `count` elements none is there twice.
  TK_DEVICE bool in_chunks(int count) const {
    return n % 8 == 0 && begins_chunk(x) && (!gate || begins_chunk(gate)) && (!wraps || n >= count);
  }
  // Where the element lies that comes `by` after p, of a sequence in chunks of count elements.
  TK_DEVICE int inside(int p, int by) const {
    if (!wraps) return p + by;
    p %= n;
    if (p < 0) p += n;
    return p + by >= n ? p + by - n : p + by;
  }
};

// Lanes of a worker that has S windows side by side: a team for each, where teams are whole warps.
template <int S> struct teams {
  static constexpr int count = be::worker_warps % S == 0 ? S : 1, lanes = be::worker_lanes / count,
                       each = S / count;  // windows of a team
  static TK_DEVICE int mine() { return count == 1 ? 0 : be::worker_lane() / lanes; }
  static TK_DEVICE int lane() { return count == 1 ? be::worker_lane() : be::worker_lane() % lanes; }
};
// Of a block of 64 N2 elements, the runs that are this lane's. A few of them are on their way at
// once.
template <int N2, int S = 1, bool Split = false> struct lane_runs {
  static constexpr int across = N2 / 8, lanes = teams<S>::lanes, each = 64 * across / lanes;
  static constexpr int ahead = each % 4 == 0 ? 4 : each % 2 == 0 ? 2 : 1;
  static_assert(64 * across % lanes == 0);
  static TK_DEVICE int nth(int i) {
    int lane = teams<S>::lane();
    // Large transforms need the registers that places would keep from window to window.
    if constexpr (N2 > 64) lane = static_cast<int>(be::opaque(static_cast<std::uint32_t>(lane)));
    return place(lane) + i * lanes;
  }
  // Split, neighbours write 8 bytes each (run_place): of eight rows sixteen lanes should have such
  // whose chunks lie on different banks (core/layout.hpp), and those are not neighbours.
  static TK_BOTH constexpr int place(int lane) {
    constexpr int by = across >= 8 ? 2 : 1;
    if constexpr (!Split || lanes < 8 * across) return lane;
    int const row = lane / across % 8, other = (row << by | row >> (3 - by)) & 7;
    return lane + (other - row) * across;
  }
};
// Where a run of the s-th of some windows lies in tiles in which each has U columns, or, Split,
// half as many for even elements before those for odd ones.
template <int N2, bool Split = false> struct run_place {
  static constexpr int U = N2 < 64 ? N2 : 64;
  int part, row, col;
  TK_DEVICE explicit run_place(int nth, int s = 0)
      : part(nth % (N2 / 8) / (U / 8)),
        row(nth / (N2 / 8)),
        col(s * U + nth % (U / 8) * (Split ? 4 : 8)) {}
  template <class T, int C>
  TK_DEVICE void put(shared_tile<T, 64, C>& to, run_of_eight const& y) const {
    if constexpr (Split) put_split_run(to, row, col, U / 2, y);
    else put_run(to, row, col, y);
  }
  template <int C> TK_DEVICE run_of_eight take(shared_tile<float, 64, C> const& from) const {
    if constexpr (Split) return take_split_run(from, row, col, U / 2);
    else return take_run(from, row, col);
  }
  template <class T, int C> TK_DEVICE chunk16 chunk(shared_tile<T, 64, C> const& from) const {
    if constexpr (Split) return take_split_chunk(from, row, col, U / 2);
    else return take_chunk(from, row, col);
  }
};

// The chunk at p, where that is inside, of a sequence in chunks.
template <class T> TK_DEVICE chunk16 read_chunk_inside(T const* x, int p, int n) {
  return p < 0 || p >= n ? chunk16{} : *reinterpret_cast<chunk16 const*>(x + p);
}

}  // namespace tk
