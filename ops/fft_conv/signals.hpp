// SPDX-License-Identifier: MIT
// Sequences in global memory as the long convolution reads and writes them: eight neighbours at a
// time, a run, from any place on. What lies outside of a sequence is 0, or where it wraps, its
// other end.
#pragma once
#include "core/chunk.hpp"
#include "core/tile_runs.hpp"

namespace tk {

// x[b, h, n]; data may be null.
template <class T> struct strided_sequences {
  T* data;
  std::int64_t b_stride, h_stride;
  TK_BOTH T* of(int b, int h) const { return data + (b * b_stride + h * h_stride); }
};

template <class T> TK_DEVICE bool begins_chunk(T const* x) {
  return reinterpret_cast<std::uintptr_t>(x) % 16 == 0;
}
template <class T> TK_DEVICE run_of_eight widen_run(chunk16 const& x) {
  run_of_eight y;
  TK_UNROLL
  for (int i = 0; i < 8; ++i) y.x[i] = half_of<T>(x.w[i / 2], i);
  return y;
}

// Elements p, ..., p + 7 of n.
template <class T>
TK_DEVICE run_of_eight read_run(T const* x, std::int64_t p, std::int64_t n, bool wraps) {
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
  int const first = p < 0 ? static_cast<int>(-p) : 0,
            left = n - p < 8 ? static_cast<int>(n - p) : 8;
  T const* const from = x + p;
  if constexpr (sizeof(T) == 2) {
    chunk_words<T> words;
    words.template read<false>(from, from, first, left, begins_chunk(from));
    TK_UNROLL
    for (int i = 0; i < 8; ++i) y.x[i] = half_of<T>(words.w[i / 2], i);
  } else {
    TK_UNROLL
    for (int i = 0; i < 8; ++i)
      if (first <= i && i < left) y.x[i] = from[i];
  }
  return y;
}

// To elements p, ... of n, p from 0 on.
template <class T>
TK_DEVICE void write_run(T* x, std::int64_t p, std::int64_t n, run_of_eight const& y) {
  T* const to = x + p;
  if constexpr (sizeof(T) == 2) {
    if (p + 8 <= n && begins_chunk(to)) {
      std::uint32_t w[4];
      TK_UNROLL
      for (int i = 0; i < 4; ++i) w[i] = be::pack(T{}, y.x[2 * i], y.x[2 * i + 1]);
      return be::write_16_bytes(to, w);
    }
  }
  TK_UNROLL
  for (int i = 0; i < 8; ++i)
    if (p + i < n) put(to + i, y.x[i]);
}

// A sequence and what gates it, element by element.
template <class T> struct gated_sequence {
  T const *x, *gate;  // gate may be null
  std::int64_t n;
  bool wraps;

  TK_DEVICE run_of_eight read(std::int64_t p) const {
    auto y = read_run(x, p, n, wraps);
    if (gate) {
      auto const z = read_run(gate, p, n, wraps);
      TK_UNROLL
      for (int i = 0; i < 8; ++i) y.x[i] *= z.x[i];
    }
    return y;
  }
  // Whether runs that begin at multiples of eight are chunks of 16 bytes, all there or none.
  TK_DEVICE bool in_chunks() const {
    return n % 8 == 0 && begins_chunk(x) && (!gate || begins_chunk(gate));
  }
};

// The runs of a piece of R * C elements that are this lane's, where they are chunks: all are on
// their way at once.
template <class T, int R, int C> struct held_runs {
  static constexpr int across = C / 8, each = R * across / be::worker_lanes;
  static_assert(R * across % be::worker_lanes == 0);
  chunk16 x[each], gate[each];

  static TK_DEVICE int nth(int i) { return be::worker_lane() + i * be::worker_lanes; }
  TK_DEVICE void load(gated_sequence<T> const& from, std::int64_t first) {
    TK_UNROLL
    for (int i = 0; i < each; ++i) {
      std::int64_t p = first + 8 * nth(i);
      if (from.wraps) {
        p %= from.n;
        if (p < 0) p += from.n;
      }
      bool const inside = p >= 0 && p < from.n;
      x[i] = gate[i] = {};
      if (inside) x[i] = *reinterpret_cast<chunk16 const*>(from.x + p);
      if (inside && from.gate) gate[i] = *reinterpret_cast<chunk16 const*>(from.gate + p);
    }
  }
  TK_DEVICE run_of_eight run(int i, bool gated) const {
    auto y = widen_run<T>(x[i]);
    if (gated) {
      auto const by = widen_run<T>(gate[i]);
      TK_UNROLL
      for (int e = 0; e < 8; ++e) y.x[e] *= by.x[e];
    }
    return y;
  }
  TK_DEVICE void add_to(magnitudes& x, bool gated) const {
    TK_UNROLL
    for (int i = 0; i < each; ++i) x.add(run(i, gated));
  }
  TK_DEVICE void store(shared_tile<fp16, R, C>& dst, float scale, bool gated) const {
    TK_UNROLL
    for (int i = 0; i < each; ++i)
      put_run(dst, nth(i) / across, nth(i) % across * 8, scaled(run(i, gated), scale));
    be::publish_shared();
  }
};

// Adds what this lane has of `count` elements from p on.
template <class T, class Worker>
TK_DEVICE void add_to(magnitudes& to, gated_sequence<T> const& x, std::int64_t p, int count,
                      Worker const& w) {
  TK_ROLL
  for (int i = 8 * w.lane(); i < count; i += 8 * be::worker_lanes) to.add(x.read(p + i));
}
// dst = the elements from `first` on, times scale.
template <class T, int R, int C, class Worker>
TK_DEVICE void fill_scaled(shared_tile<fp16, R, C>& dst, gated_sequence<T> const& x,
                           std::int64_t first, float scale, Worker const& w) {
  fill_runs(dst, w.lane(), be::worker_lanes,
            [&](int row, int col) { return scaled(x.read(first + row * C + col), scale); });
}

}  // namespace tk
