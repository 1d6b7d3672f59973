// SPDX-License-Identifier: MIT
// Movement of shared tiles (tile.hpp). The lanes of a warp, or all of a block (stream.hpp), load a
// tile together, chunks of 16 bytes in turn: with cp.async, in one, two or four pieces, where rows
// begin at multiples of 16, 8 or 4 bytes; else through registers. store_async() goes through
// shared memory, so that whole lines leave; store() goes straight.
#pragma once
#include "backends/sm_80/tile.hpp"

namespace tk::be {

// A tensor as kernels have it, made by read_from() and write_to() (launch.hpp); sizes fit in 31
// bits.
template <class T> struct view {
  T* data;
  std::int64_t row_stride, stride0, stride1;
  int rows, cols, vector_width;
  TK_BOTH tensor<T> all() const { return {data, rows, cols, row_stride, 1, stride0, 1, stride1}; }
  TK_DEVICE T* at(int row, int col, int i, int j) const {
    return data + (i * stride0 + j * stride1 + row * row_stride + col);
  }
};
template <class T, int R, int C> struct source : view<T const> {};
template <class T, int R, int C> struct sink : view<T> {};

// Where the lane's first chunk of each of a slot's tiles is, and how many bytes further on that of
// the next slot; while a plan is made, how far that chunk is from the tile's corner.
struct fill_plan {
  static constexpr int most = 4;  // tiles
  struct {
    char const* at;
    int step;
  } tile[most];
};
enum class filling { now, plan, planned };
// This lane of those that fill a slot. Either each of `of` warps has whole tiles, and this lane's
// is the me-th: they take a slot's tiles in turn, because finding a tile's place costs as much as
// copying it. Or all `lanes` of a block share each tile; then slots can be filled as planned.
// `plain` is set where something goes through registers, which the slot's barrier does not know of,
// and where a slot can't be planned.
struct arrival {
  int lane, me, of;
  int& next_tile;  // of the slot
  bool& plain;
  int lanes = warp_lanes;
  filling how = filling::now;
  fill_plan* plan = nullptr;
  TK_DEVICE bool mine() const {
    bool const is_mine = next_tile == me;
    next_tile = next_tile + 1 == of ? 0 : next_tile + 1;
    return is_mine;
  }
};

// ---- global to shared
// All of it in the tensor, in chunks of 16 bytes. Where the lanes take whole rows at a time, each
// has two chunks of a row, so that one address does for both; what the swizzle makes of a lane's
// chunks differs by constants.
template <class T, int R, int C>
TK_DEVICE void load_inside(shared_tile<T, R, C>& dst, T const* src, std::int64_t row_stride,
                           int lane) {
  using tile = shared_tile<T, R, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk, across = chunks / 2;
  std::uint32_t const to = ptx::smem(&dst);
  if constexpr (warp_lanes % across == 0) {
    constexpr int rows = warp_lanes / across;
    int const first = lane / across, col = lane % across * per_chunk;
    T const* from = src + (first * row_stride + col);
    TK_UNROLL
    for (int row = 0; row < R; row += rows, from += rows * row_stride) {
      if (R % rows != 0 && first + row >= R) continue;
      TK_UNROLL
      for (int half = 0; half < 2; ++half) {
        auto const place = static_cast<std::uint32_t>(tile::offset(first, col + half * C / 2));
        ptx::copy_async<16>(
            ((to + place) ^ static_cast<std::uint32_t>(tile::layout::chunk(row, 0) * 16)) +
                static_cast<std::uint32_t>(row * tile::layout::row_bytes),
            from + half * C / 2);
      }
    }
  } else {
    TK_UNROLL
    for (int n = lane; n < R * chunks; n += warp_lanes) {
      int const row = n / chunks, col = n % chunks * per_chunk;
      ptx::copy_async<16>(to + static_cast<std::uint32_t>(tile::offset(row, col)),
                          src + (row * row_stride + col));
    }
  }
}
// The same as planned. Lanes share a tile such that each has one column of chunks, and the swizzle
// is the same for all of them.
template <class T, int R, int C>
TK_DEVICE void plan_tile(view<T const> const& x, T const* corner, bool inside, arrival done) {
  using tile = shared_tile<T, R, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk;
  constexpr std::int64_t far = (1 << 30) / (R * tile::size);
  int const i = done.next_tile++, row = done.lane / chunks, col = done.lane % chunks * per_chunk;
  if (i >= fill_plan::most) return;
  bool const near = x.row_stride >= 0 && x.row_stride <= far;
  if (!inside || !near || done.lanes % (8 * chunks) != 0) done.plain = true;
  int const stride = near ? static_cast<int>(x.row_stride) : 0;
  done.plan->tile[i] = {reinterpret_cast<char const*>(corner), (row * stride + col) * tile::size};
}
template <class T, int R, int C>
TK_DEVICE void load_planned(shared_tile<T, R, C>& dst, std::int64_t row_stride, arrival done) {
  using tile = shared_tile<T, R, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk;
  auto& at = done.plan->tile[done.next_tile++];
  int const first = done.lane / chunks, col = done.lane % chunks * per_chunk;
  int const together = done.lanes / chunks, row_bytes = static_cast<int>(row_stride) * tile::size;
  std::uint32_t const to = ptx::smem(&dst) + static_cast<std::uint32_t>(tile::offset(first, col));
  TK_UNROLL
  for (int row = 0; row < R; row += together)
    if (row + together <= R || row + first < R)
      ptx::copy_async<16>(to + static_cast<std::uint32_t>(row * tile::layout::row_bytes),
                          at.at + std::int64_t{row} * row_bytes);
  at.at += at.step;
}
// Bytes at a time, of which the first `left` are inside the tensor.
template <int Bytes>
TK_DEVICE void copy_chunk(std::uint32_t to, void const* from, int left, void const* somewhere) {
  TK_UNROLL
  for (int b = 0; b < 16; b += Bytes) {
    int const inside = left < b ? 0 : left - b < Bytes ? left - b : Bytes;
    ptx::copy_async<Bytes>(to + static_cast<std::uint32_t>(b),
                           inside ? static_cast<char const*>(from) + b : somewhere, inside);
  }
}
// Any corner, any alignment. What is outside becomes zero.
template <class T, int R, int C, int S>
TK_DEVICE void load_any(shared_tile<T, R, C>& dst, window_of<source<T, S, C>> const& src,
                        arrival done) {
  using tile = shared_tile<T, R, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk;
  auto const& x = src.of;
  int const bytes = x.vector_width * tile::size;
  done.plain = done.plain || bytes < 4;
  TK_ROLL
  for (int n = ptx::opaque(done.lane); n < R * chunks; n += done.lanes) {
    int const row = n / chunks, col = n % chunks * per_chunk, at = tile::offset(row, col);
    if (bytes < 4) {
      *reinterpret_cast<chunk16*>(bytes_of(dst) + at) =
          read_chunk(x.all(), x.vector_width, src.row + row, src.col + col, src.i, src.j);
      continue;
    }
    int const cols = x.cols - src.col - col;
    int const left =
        src.row + row < x.rows ? (cols < per_chunk ? cols : per_chunk) * tile::size : 0;
    T const* const from = x.at(src.row + row, src.col + col, src.i, src.j);
    std::uint32_t const to = ptx::smem(&dst) + static_cast<std::uint32_t>(at);
    if (bytes == 16) copy_chunk<16>(to, from, left, x.data);
    else if (bytes == 8) copy_chunk<8>(to, from, left, x.data);
    else copy_chunk<4>(to, from, left, x.data);
  }
}
// Share is for clusters, which these chips do not have.
template <class T, int R, int C, int Share>
TK_DEVICE void load_shared(shared_tile<T, R, C>& dst, window_of<source<T, Share, C>> const& src,
                           arrival done) {
  static_assert(R % Share == 0, "the blocks of a cluster load equal shares");
  auto const& x = src.of;
  if (done.how == filling::planned) return load_planned(dst, x.row_stride, done);
  bool const inside =
      x.vector_width == 16 / int{sizeof(T)} && src.row + R <= x.rows && src.col + C <= x.cols;
  T const* const corner = x.at(src.row, src.col, src.i, src.j);
  if (done.how == filling::plan) return plan_tile<T, R, C>(x, corner, inside, done);
  if (!done.mine()) return;
  if (inside && done.lanes == warp_lanes) load_inside(dst, corner, x.row_stride, done.lane);
  else load_any(dst, src, done);
}
template <class T, int R, int C>
TK_DEVICE void load_async(shared_tile<T, R, C>& dst, window_of<source<T, R, C>> const& src,
                          arrival done) {
  load_shared(dst, src, done);
}

template <class T, int R, int C>
TK_DEVICE void load_async(shared_tile<T, R, C>& dst, bounded_window_of<source<T, R, C>> const& src,
                          arrival done) {
  auto const& [of, row, col, i, j] = src.all;
  source<T, R, C> const bounded = rows_before(of, src.end);
  load_shared(dst, window(bounded, row, col, i, j), done);
}

// src[0, N); elements from `left` on are zero.
template <class T, int N>
TK_DEVICE void load_async(shared_vec<T, N>& dst, T const* src, int left, arrival done) {
  if (!done.mine() || done.lane >= warp_lanes) return;
  if (left >= N && reinterpret_cast<std::uintptr_t>(src) % 16 == 0) {
    constexpr int per_chunk = 16 / int{sizeof(T)};
    for (int n = done.lane; n < N / per_chunk; n += warp_lanes)
      ptx::copy_async<16>(ptx::smem(dst.data + n * per_chunk), src + n * per_chunk);
  } else {
    done.plain = true;
    for (int n = done.lane; n < N; n += warp_lanes) dst.data[n] = n < left ? src[n] : T{};
  }
}

// All of it, from a multiple of 16 bytes.
template <class T, int N>
TK_DEVICE void load_async(shared_vec<T, N>& dst, T const* src, arrival done) {
  constexpr int per_chunk = 16 / int{sizeof(T)};
  static_assert(N % per_chunk == 0);
  if (!done.mine() || done.lane >= warp_lanes) return;
  for (int n = done.lane; n < N / per_chunk; n += warp_lanes)
    ptx::copy_async<16>(ptx::smem(dst.data + n * per_chunk), src + n * per_chunk);
}

// R rows of N columns from (row, col) on, each into a vector of its own, of which the rest is not
// written. Columns count from the 16-byte boundary at or before a row.
template <class T, int N, int R>
TK_DEVICE void load_async(shared_vec<T, N> (&dst)[R], tensor<T const> const& src, int row, int col,
                          arrival done) {
  if (!done.mine() || done.lane >= warp_lanes) return;
  constexpr int n = 16 / int{sizeof(T)};
  int const lane = done.lane * n;
  TK_UNROLL
  for (int r = 0; r < R; ++r) {
    int const first = shift_of(src, row + r) - col;
    int const last = row + r < src.rows ? static_cast<int>(src.cols) + first : 0;
    T const* const from = src.at(row + r, lane - first);
    std::uint32_t const to = ptx::smem(dst[r].data + lane);
    TK_UNROLL
    for (int k = 0; k < N; k += warp_lanes * n)
      if (lane + k < N && first <= lane + k && lane + k + n <= last)
        ptx::copy_async<16>(to + static_cast<std::uint32_t>(k * int{sizeof(T)}), from + k);
  }
  bool const any = copy_ends(dst, src, row, col, done.lane, warp_lanes);
  if (!ptx::all(!any)) done.plain = true;  // of the warp, whose lanes arrive together
}

// ---- registers and shared memory
// What this lane stored plainly is there for products, and what it loads is there for copies to
// overwrite, once a barrier of the worker has followed.
TK_DEVICE void publish_shared() {}
// Read by other lanes once a barrier of the worker has followed.
template <class T, int R, int C, class X>
TK_DEVICE void store(shared_tile<T, R, C>& dst, X const& x) {
  static_assert(can_store<T, X>::value);
  put_pairs(dst, x, worker_lane());
}

// ---- registers to global
template <class T, int R, int V, class X>
TK_DEVICE void store(window_of<sink<T, R, V>> const& dst, X const& x) {
  static_assert(can_store<T, X>::value);
  store_tile(dst.of.all(), dst.row, dst.col, dst.i, dst.j, x, dst.of.vector_width);
}
// A warp's 16 of every 64 rows of a tile, in chunks of 16 bytes: of a tile that is inside the
// tensor, and of any.
template <class T, int S, int C>
TK_DEVICE void put_inside(T* corner, std::int64_t row_stride, shared_tile<T, S, C> const& t,
                          unsigned lane, unsigned warp) {
  using tile = shared_tile<T, S, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk;
  constexpr int together = chunks < warp_lanes ? warp_lanes / chunks : 1;
  int const row = static_cast<int>(16 * warp + lane / chunks),
            col = static_cast<int>(lane % chunks) * per_chunk;
  auto const* const from = reinterpret_cast<char const*>(&t);
  int const place = tile::offset(row, col);
  T* const to = corner + (row * row_stride + col);
  TK_UNROLL
  for (int i = 0; i < S / 4; i += together) {
    int const below = i / 16 * 64 + i % 16;
    *reinterpret_cast<chunk16*>(to + below * row_stride) = *reinterpret_cast<chunk16 const*>(
        from + (place ^ tile::layout::chunk(below, 0) * 16) + below * tile::layout::row_bytes);
  }
}
template <class T, int R, int C, int S>
TK_DEVICE void put_any(window_of<sink<T, R, C>> const& dst, int top, shared_tile<T, S, C> const& t,
                       unsigned lane, unsigned warp) {
  using tile = shared_tile<T, S, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk;
  auto const& y = dst.of;
  TK_ROLL
  for (int n = static_cast<int>(lane); n < S / 4 * chunks; n += warp_lanes) {
    int const i = n / chunks, row = i / 16 * 64 + 16 * static_cast<int>(warp) + i % 16,
              col = n % chunks * per_chunk, below = dst.row + top + row;
    int const left = below < y.rows ? y.cols - dst.col - col : 0;
    T* const to = y.at(below, dst.col + col, dst.i, dst.j);
    auto const* const from = t.data + tile::offset(row, col) / tile::size;
    if (left >= per_chunk)
      *reinterpret_cast<chunk16*>(to) = *reinterpret_cast<chunk16 const*>(from);
    else
      for (int e = 0; e < left; ++e) to[e] = from[e];
  }
}
// Through shared memory, by the part-th of the tiles `via`, so many rows at a time as it has. A
// warp reads back what it wrote itself. The tile is free again when it returns.
template <class T, int R, int C> using staging = shared_tile<T, (R > 128 ? 128 : R), C>[1];
template <class T, int R, int C, int S, int Tiles, class X>
TK_DEVICE void store_async(worker w, window_of<sink<T, R, C>> const& dst, X const& x,
                           shared_tile<T, S, C> (&via)[Tiles], int part = 0) {
  static_assert(can_store<T, X>::value);
  static_assert(R % S == 0);
  constexpr int per_chunk = 16 / shared_tile<T, S, C>::size, chunks = C / per_chunk;
  auto const& y = dst.of;
  if (y.vector_width != per_chunk) [[unlikely]]
    return store(dst, x);
  auto& t = via[part % Tiles];
  w.sync();
  int const own_lane = ptx::opaque(w.lane());
  unsigned const lane = static_cast<unsigned>(own_lane) % warp_lanes,
                 warp = static_cast<unsigned>(own_lane) / warp_lanes;
  auto const in_parts = [&](auto put) {
    TK_UNROLL
    for (int top = 0; top < R; top += S) {
      if (top > 0) ptx::warp_sync();
      put_pairs(t, x, own_lane, top / S);
      ptx::warp_sync();
      put(top);
    }
  };
  bool const inside = dst.row + R <= y.rows && dst.col + C <= y.cols;
  if (warp_lanes % chunks == 0 && inside) [[likely]] {
    T* const corner = y.at(dst.row, dst.col, dst.i, dst.j);
    in_parts(
        [&](int top) { put_inside(corner + top * y.row_stride, y.row_stride, t, lane, warp); });
  } else {
    in_parts([&](int top) { put_any(dst, top, t, lane, warp); });
  }
}
template <class T, int R, int C, class X>
TK_DEVICE void store_async(worker w, window_of<sink<T, R, C>> const& dst, X const& x,
                           shared_tile<T, R, C>& via) {
  static_assert(can_store<T, X>::value);
  store_async(w, dst, x, reinterpret_cast<shared_tile<T, R, C>(&)[1]>(via));
}

// What this worker's store_asyncs went through may be written again.
TK_DEVICE void wait_stores_read(worker w) { w.sync(); }

template <class T, int R, int C, class X>
TK_DEVICE void store(bounded_window_of<sink<T, R, C>> const& dst, X const& x) {
  auto const& [of, row, col, i, j] = dst.all;
  sink<T, R, C> const bounded = rows_before(of, dst.end);
  store(window(bounded, row, col, i, j), x);
}
template <class T, int R, int C, class X, class Via>
TK_DEVICE void store_async(worker w, bounded_window_of<sink<T, R, C>> const& dst, X const& x,
                           Via& via) {
  auto const& [of, row, col, i, j] = dst.all;
  sink<T, R, C> const bounded = rows_before(of, dst.end);
  store_async(w, window(bounded, row, col, i, j), x, via);
}

// x transposed: element (r, c) to (row + c, col + r).
template <class T, int R, int C>
TK_DEVICE void store_async_transposed(worker, bounded_window_of<sink<T, C, R>> const& dst,
                                      reg_tile<float, R, C> const& x, shared_tile<T, C, R>&) {
  auto const& [of, row, col, i, j] = dst.all;
  store_transposed(rows_before(of.all(), dst.end), row, col, i, j, x);
}

}  // namespace tk::be
