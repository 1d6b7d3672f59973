// SPDX-License-Identifier: MIT
// Shared tiles by runs of eight neighbours in a row, dealt to lanes in row-major order: where rows
// of a tile are pieces of one long row of global memory, lanes that are neighbours have neighbours
// there.
//   fill_runs(dst, lane, lanes, f)    dst's elements (row, col), ..., (row, col + 7) become
//                                     cast(f(row, col)), of this lane's share of the tile
//   put_run(dst, row, col, run), take_run(src, row, col)   one of them, of src in fp32
//   put_chunk(dst, row, col, pack_run<T>(run)), take_chunk(src, row, col)
//                                     the same of 16-bit elements, as they lie in memory
//   put_split_run(dst, row, col, apart, run), take_split_run(...), take_split_chunk(...)
//                                     the same, a run's even elements from (row, col) on, its odd
//                                     ones `apart` columns further
// Products and other lanes may read dst once a barrier has followed.
#pragma once
#include "core/partial_tiles.hpp"
#include "core/shared.hpp"

#include TK_BACKEND(copy.hpp)

namespace tk {

struct alignas(16) run_of_eight {
  float x[8];
};
TK_DEVICE run_of_eight scaled(run_of_eight y, float by) {
  TK_UNROLL
  for (float& e : y.x) e *= by;
  return y;
}
TK_DEVICE run_of_eight product_of(run_of_eight x, run_of_eight const& y) {
  TK_UNROLL
  for (int i = 0; i < 8; ++i) x.x[i] *= y.x[i];
  return x;
}
// The largest magnitude; no NaN counts.
TK_DEVICE float largest_magnitude(run_of_eight const& y) {
  float most = 0;
  TK_UNROLL
  for (float const e : y.x) most = be::max(most, __builtin_fabsf(e));
  return most;
}

// One run; products may read it once publish_shared() and a barrier have followed.
template <class T> TK_DEVICE chunk16 pack_run(run_of_eight const& y) {
  static_assert(sizeof(T) == 2, "runs are put into tiles of 16-bit elements");
  chunk16 words;
  TK_UNROLL
  for (int i = 0; i < 4; ++i) words.w[i] = be::pack(T{}, y.x[2 * i], y.x[2 * i + 1]);
  return words;
}
template <class T, int R, int C>
TK_DEVICE void put_chunk(shared_tile<T, R, C>& dst, int row, int col, chunk16 const& words) {
  *reinterpret_cast<chunk16*>(reinterpret_cast<char*>(&dst) +
                              shared_tile<T, R, C>::offset(row, col)) = words;
}
template <class T, int R, int C>
TK_DEVICE void put_run(shared_tile<T, R, C>& dst, int row, int col, run_of_eight const& y) {
  put_chunk(dst, row, col, pack_run<T>(y));
}
template <int R, int C>
TK_DEVICE run_of_eight take_run(shared_tile<float, R, C> const& src, int row, int col) {
  run_of_eight y;
  TK_UNROLL
  for (int half = 0; half < 2; ++half) {
    auto const part = *reinterpret_cast<four_floats const*>(
        reinterpret_cast<char const*>(&src) +
        shared_tile<float, R, C>::offset(row, col + 4 * half));
    TK_UNROLL
    for (int i = 0; i < 4; ++i) y.x[4 * half + i] = part.x[i];
  }
  return y;
}

template <class T, int R, int C>
TK_DEVICE chunk16 take_chunk(shared_tile<T, R, C> const& src, int row, int col) {
  return *reinterpret_cast<chunk16 const*>(reinterpret_cast<char const*>(&src) +
                                           shared_tile<T, R, C>::offset(row, col));
}

struct alignas(8) half_chunk {
  std::uint32_t w[2];
};
template <class T, int R, int C>
TK_DEVICE void put_split_run(shared_tile<T, R, C>& dst, int row, int col, int apart,
                             run_of_eight const& y) {
  TK_UNROLL
  for (int odd = 0; odd < 2; ++odd) {
    half_chunk const words{
        {be::pack(T{}, y.x[odd], y.x[2 + odd]), be::pack(T{}, y.x[4 + odd], y.x[6 + odd])}};
    *reinterpret_cast<half_chunk*>(reinterpret_cast<char*>(&dst) +
                                   shared_tile<T, R, C>::offset(row, col + odd * apart)) = words;
  }
}
template <int R, int C>
TK_DEVICE run_of_eight take_split_run(shared_tile<float, R, C> const& src, int row, int col,
                                      int apart) {
  run_of_eight y;
  TK_UNROLL
  for (int odd = 0; odd < 2; ++odd) {
    auto const part = *reinterpret_cast<four_floats const*>(
        reinterpret_cast<char const*>(&src) +
        shared_tile<float, R, C>::offset(row, col + odd * apart));
    TK_UNROLL
    for (int i = 0; i < 4; ++i) y.x[2 * i + odd] = part.x[i];
  }
  return y;
}
template <class T, int R, int C>
TK_DEVICE chunk16 take_split_chunk(shared_tile<T, R, C> const& src, int row, int col, int apart) {
  auto const half = [&](int at) {
    return *reinterpret_cast<half_chunk const*>(reinterpret_cast<char const*>(&src) +
                                                shared_tile<T, R, C>::offset(row, at));
  };
  auto const even = half(col), odd = half(col + apart);
  chunk16 words;
  TK_UNROLL
  for (int i = 0; i < 2; ++i) {
    words.w[2 * i] = (even.w[i] & 0xffff) | odd.w[i] << 16;
    words.w[2 * i + 1] = even.w[i] >> 16 | (odd.w[i] & 0xffff0000);
  }
  return words;
}

template <class T, int R, int C, class F>
TK_DEVICE void fill_runs(shared_tile<T, R, C>& dst, int lane, int lanes, F f) {
  constexpr int across = C / 8;
  TK_ROLL
  for (int n = lane; n < R * across; n += lanes) {
    int const row = n / across, col = n % across * 8;
    put_run(dst, row, col, f(row, col));
  }
  be::publish_shared();
}

// The largest magnitude of some numbers, and the sum of all; NaN makes the sum NaN.
struct magnitudes {
  float largest = 0, sum = 0;
  TK_DEVICE void add(run_of_eight const& y) {
    largest = be::max(largest, largest_magnitude(y));
    TK_UNROLL
    for (float const e : y.x) sum += __builtin_fabsf(e);
  }
};
struct magnitudes_exchange {
  magnitudes of[be::worker_warps];
};
// Of all lanes of the worker, in all of them, in a fixed order; without Sum the largest alone. With
// Lanes, whole warps, of each so many lanes for themselves. `exchange` is used again once a barrier
// of the worker has followed. In two steps, between which there is one: what the first gives the
// second takes.
template <bool Sum = true, int Lanes = be::worker_lanes, class Worker>
TK_DEVICE magnitudes of_warp([[maybe_unused]] Worker const& w, magnitudes x,
                             [[maybe_unused]] magnitudes_exchange& exchange) {
  static_assert(Lanes % be::warp_lanes == 0 && be::worker_lanes % Lanes == 0);
  x.largest = be::max_of_warp(x.largest);
  if constexpr (Sum) TK_UNROLL
  for (int bit = 1; bit < be::warp_lanes; bit *= 2) x.sum += be::shuffle_xor(x.sum, bit);
  if constexpr (Lanes > be::warp_lanes)
    if (int const lane = w.lane(); lane % be::warp_lanes == 0)
      exchange.of[lane / be::warp_lanes] = x;
  return x;
}
template <bool Sum = true, int Lanes = be::worker_lanes, class Worker>
TK_DEVICE magnitudes of_warps([[maybe_unused]] Worker const& w, magnitudes x,
                              [[maybe_unused]] magnitudes_exchange const& exchange) {
  if constexpr (constexpr int warps = Lanes / be::warp_lanes; warps > 1) {
    int const first = w.lane() / Lanes * warps;
    x = exchange.of[first];
    TK_UNROLL
    for (int i = 1; i < warps; ++i) {
      x.largest = be::max(x.largest, exchange.of[first + i].largest);
      if constexpr (Sum) x.sum += exchange.of[first + i].sum;
    }
  }
  return x;
}
template <bool Sum = true, int Lanes = be::worker_lanes, class Worker>
TK_DEVICE magnitudes of_all_lanes(Worker const& w, magnitudes x, magnitudes_exchange& exchange) {
  x = of_warp<Sum, Lanes>(w, x, exchange);
  if constexpr (Lanes > be::warp_lanes) w.sync();
  return of_warps<Sum, Lanes>(w, x, exchange);
}

}  // namespace tk
