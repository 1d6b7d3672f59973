// SPDX-License-Identifier: MIT
// Movement of shared tiles (tile.hpp). Lanes that load a tile together take its chunks of 16 bytes
// in turn: with cp.async, in one, two or four pieces, where rows begin at multiples of 16, 8 or 4
// bytes; else through registers. Stores leave through shared memory, so that they are whole lines.
#pragma once
#include "backends/sm_80/tile.hpp"

namespace tk::be {

template <class T, int R, int C> struct source {
  tensor<T const> x;
  int granule;
};
template <class T, int R, int C> struct sink {
  tensor<T> x;
  int granule;
};

// Which of how many lanes this one is, of those that load together, and whether any of it went
// through registers, which the slot's barrier does not know of.
struct arrival {
  int lane, lanes;
  bool& plain;
};

// ---- global to shared
// All of it in the tensor, in chunks of 16 bytes. Where lanes take whole rows at a time, a lane's
// chunks are at one column, eight rows or a multiple of it apart, and so at one place of the
// swizzle.
template <class T, int R, int C>
TK_DEVICE void load_inside(shared_tile<T, R, C>& dst, T const* src, std::int64_t row_stride,
                           arrival done) {
  using tile = shared_tile<T, R, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk, count = R * chunks;
  std::uint32_t const to = ptx::smem(&dst);
  int const first = done.lane / chunks, col = done.lane % chunks * per_chunk;
  if (int const rows = done.lanes / chunks; done.lanes % chunks == 0 && rows % 8 == 0) {
    std::uint32_t const place = to + static_cast<std::uint32_t>(tile::offset(first, col));
    T const* const from = src + (first * row_stride + col);
    TK_UNROLL
    for (int i = 0; i < count / done.lanes; ++i)
      ptx::copy_async<16>(place + static_cast<std::uint32_t>(i * rows * tile::swizzle::row_bytes),
                          from + i * rows * row_stride);
    if (int const done_rows = count / done.lanes * rows; count % done.lanes != 0)
      if (first + done_rows < R)
        ptx::copy_async<16>(
            place + static_cast<std::uint32_t>(done_rows * tile::swizzle::row_bytes),
            from + done_rows * row_stride);
  } else {
    TK_UNROLL
    for (int n = done.lane; n < count; n += done.lanes) {
      int const row = n / chunks, at = n % chunks * per_chunk;
      ptx::copy_async<16>(to + static_cast<std::uint32_t>(tile::offset(row, at)),
                          src + (row * row_stride + at));
    }
  }
}
// Any corner; Bytes at a time. What is outside becomes zero.
template <int Bytes, class T, int R, int C, int S>
TK_DEVICE void load_edge(shared_tile<T, R, C>& dst, window_of<source<T, S, C>> const& src,
                         arrival done) {
  using tile = shared_tile<T, R, C>;
  constexpr int per_piece = Bytes / tile::size, pieces = C / per_piece;
  auto const& x = src.of.x;
  std::uint32_t const to = ptx::smem(&dst);
  TK_ROLL
  for (int n = done.lane; n < R * pieces; n += done.lanes) {
    int const row = n / pieces, col = n % pieces * per_piece;
    int const left =
        src.row + row < x.rows ? static_cast<int>(x.cols - src.col - col) * tile::size : 0;
    int const inside = left < 0 ? 0 : left < Bytes ? left : Bytes;
    T const* const from = inside ? x.at(src.row + row, src.col + col, src.i, src.j) : x.data;
    ptx::copy_async<Bytes>(to + static_cast<std::uint32_t>(tile::offset(row, col)), from, inside);
  }
}
// Through registers.
template <class T, int R, int C, int S>
TK_DEVICE void load_plain(shared_tile<T, R, C>& dst, window_of<source<T, S, C>> const& src,
                          arrival done) {
  using tile = shared_tile<T, R, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk;
  done.plain = true;
  TK_ROLL
  for (int n = done.lane; n < R * chunks; n += done.lanes) {
    int const row = n / chunks, col = n % chunks * per_chunk;
    *reinterpret_cast<chunk16*>(bytes_of(dst) + tile::offset(row, col)) =
        read_chunk(src.of.x, src.of.granule, src.row + row, src.col + col, src.i, src.j);
  }
}
// Share is for clusters, which these chips do not have.
template <class T, int R, int C, int Share>
TK_DEVICE void load_shared(shared_tile<T, R, C>& dst, window_of<source<T, Share, C>> const& src,
                           arrival done) {
  auto const& x = src.of.x;
  int const granule_bytes = src.of.granule * static_cast<int>(sizeof(T));
  if (granule_bytes == 16 && src.row + R <= x.rows && src.col + C <= x.cols)
    load_inside(dst, x.at(src.row, src.col, src.i, src.j), x.row_stride, done);
  else if (granule_bytes == 16) load_edge<16>(dst, src, done);
  else if (granule_bytes == 8) load_edge<8>(dst, src, done);
  else if (granule_bytes == 4) load_edge<4>(dst, src, done);
  else load_plain(dst, src, done);
}
template <class T, int R, int C>
TK_DEVICE void load_async(shared_tile<T, R, C>& dst, window_of<source<T, R, C>> const& src,
                          arrival done) {
  load_shared(dst, src, done);
}

// src[0, N); elements from `left` on are zero.
template <class T, int N>
TK_DEVICE void load_async(shared_vec<T, N>& dst, T const* src, int left, arrival done) {
  if (left >= N && reinterpret_cast<std::uintptr_t>(src) % 16 == 0) {
    constexpr int per_chunk = 16 / int{sizeof(T)};
    for (int n = done.lane; n < N / per_chunk; n += done.lanes)
      ptx::copy_async<16>(ptx::smem(dst.data + n * per_chunk), src + n * per_chunk);
  } else {
    done.plain = true;
    for (int n = done.lane; n < N; n += done.lanes) dst.data[n] = n < left ? src[n] : T{};
  }
}

// ---- registers and shared memory
// Read by other lanes once a barrier of the worker has followed.
template <class T, int R, int C, class X>
TK_DEVICE void store(shared_tile<T, R, C>& dst, X const& x) {
  put_pairs(dst, x, worker_lane());
}

// ---- registers to global
template <class T, int R, int V, class X>
TK_DEVICE void store(window_of<sink<T, R, V>> const& dst, X const& x) {
  store_direct(dst.of.x, dst.row, dst.col, dst.i, dst.j, x, dst.of.granule);
}
// Through shared memory, by the part-th of the tiles `via`. A warp reads back what it wrote itself:
// its 16 of every 64 rows. The tile is free again when it returns.
template <class T, int R, int C, int Tiles, class X>
TK_DEVICE void store_async(worker w, window_of<sink<T, R, C>> const& dst, X const& x,
                           shared_tile<T, R, C> (&via)[Tiles], int part = 0) {
  using tile = shared_tile<T, R, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk;
  auto const& y = dst.of.x;
  if (dst.of.granule != per_chunk) return store(dst, x);
  auto& t = via[part % Tiles];
  w.sync();
  int const own_lane = ptx::opaque(w.lane()), lane = own_lane % warp_lanes,
            warp = own_lane / warp_lanes;
  put_pairs(t, x, own_lane);
  ptx::warp_sync();
  TK_UNROLL
  for (int n = lane; n < R / 4 * chunks; n += warp_lanes) {
    int const i = n / chunks, row = i / 16 * 64 + 16 * warp + i % 16, col = n % chunks * per_chunk;
    int const left = dst.row + row < y.rows ? static_cast<int>(y.cols - dst.col) - col : 0;
    if (left <= 0) continue;
    T* const to = y.at(dst.row + row, dst.col + col, dst.i, dst.j);
    auto const& chunk = *reinterpret_cast<chunk16 const*>(bytes_of(t) + tile::offset(row, col));
    if (left >= per_chunk) {
      *reinterpret_cast<chunk16*>(to) = chunk;
    } else {
      TK_UNROLL
      for (int e = 0; e < per_chunk - 1; ++e)
        if (e < left) to[e] = reinterpret_cast<T const*>(&chunk)[e];
    }
  }
}
template <class T, int R, int C, class X>
TK_DEVICE void store_async(worker w, window_of<sink<T, R, C>> const& dst, X const& x,
                           shared_tile<T, R, C>& via) {
  store_async(w, dst, x, reinterpret_cast<shared_tile<T, R, C>(&)[1]>(via));
}

}  // namespace tk::be
