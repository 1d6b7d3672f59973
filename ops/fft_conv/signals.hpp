// SPDX-License-Identifier: MIT
// Sequences in global memory as the long convolution reads and writes them: eight neighbours at a
// time, from any place on. What lies outside of a sequence is 0, or where it wraps, its other end.
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

// Elements p, ..., p + 7 of n.
template <class T>
TK_DEVICE run_of_eight read_run(T const* x, std::int64_t p, std::int64_t n, bool wraps) {
  run_of_eight y{};
  if (wraps) {
    p %= n;
    if (p < 0) p += n;
    if (p + 8 > n) {
      TK_UNROLL
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
    bool const aligned = reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
    words.template read<false>(from, from, first, left, aligned);
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
    if (p + 8 <= n && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
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
};

// The largest magnitude of count elements from p on, of all lanes of the worker; NaN does not
// count.
template <class T, class Worker>
TK_DEVICE float largest_of(gated_sequence<T> const& x, std::int64_t p, int count, Worker const& w) {
  float most = 0;
  TK_ROLL
  for (int i = 8 * w.lane(); i < count; i += 8 * be::worker_lanes) {
    auto const y = x.read(p + i);
    TK_UNROLL
    for (float const e : y.x) most = be::max(most, __builtin_fabsf(e));
  }
  return most;
}

}  // namespace tk
