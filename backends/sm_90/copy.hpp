// SPDX-License-Identifier: MIT
// Movement of shared tiles (backends/sm_80/tile.hpp). A source or sink carries the TMA map whose
// box is one panel, and the pointer and strides, which plain copies use where TMA's alignment rules
// don't hold. A producer warp calls loads with all its lanes; one of them issues TMA.
#pragma once
#include <limits>

#include "backends/sm_80/tile.hpp"
#include "core/partial_tiles.hpp"

namespace tk::be {

template <class T, int R, int C> struct source {
  ptx::tensor_map map;
  tensor<T const> x;
  int vector_width;
  bool tma;
};
template <class T, int R, int C> struct sink {
  ptx::tensor_map map;
  tensor<T> x;
  int vector_width;
  bool tma;
};

// Where a load reports, which block of its cluster this one is, and this lane of the producer warp.
struct arrival {
  std::uint32_t bar;
  int rank, lane;
};

// ---- global to shared
template <class T, int R, int C, int S>
TK_DEVICE void load_plain(shared_tile<T, R, C>& dst, window_of<source<T, S, C>> const& src,
                          arrival done, int end = std::numeric_limits<int>::max()) {
  auto const x = rows_before(src.of.x, end);
  using tile = shared_tile<T, R, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk;
  for (int n = done.lane; n < R * chunks; n += warp_lanes) {
    int const row = n / chunks, col = n % chunks * per_chunk;
    *reinterpret_cast<chunk16*>(bytes_of(dst) + tile::offset(row, col)) =
        read_chunk(x, src.of.vector_width, src.row + row, src.col + col, src.i, src.j);
  }
  ptx::proxy_fence();
  ptx::warp_sync();
}

template <class T, int R, int C>
TK_DEVICE void load_async(shared_tile<T, R, C>& dst, window_of<source<T, R, C>> const& src,
                          arrival done) {
  using tile = shared_tile<T, R, C>;
  if (!src.of.tma) return load_plain(dst, src, done);
  if (done.lane != 0) return;
  ptx::barrier_expect(done.bar, sizeof(dst.data));
  TK_UNROLL
  for (int p = 0; p < tile::panels; ++p)
    ptx::tma_load(ptx::smem(&dst) + p * tile::panel_bytes, &src.of.map,
                  {src.col + tile::panel_cols * p, src.row, src.i, src.j}, done.bar);
}

// The rows before `end` of a tile that TMA could load, which knows no end but the tensor's: all
// chunks are on their way at once.
template <class T, int R, int C>
TK_DEVICE void load_rows_before(shared_tile<T, R, C>& dst, window_of<source<T, R, C>> const& src,
                                int end, arrival done) {
  using tile = shared_tile<T, R, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk;
  auto const& x = src.of.x;
  TK_ROLL
  for (int n = done.lane; n < R * chunks; n += warp_lanes) {
    int const row = n / chunks, col = n % chunks * per_chunk;
    int const cols = static_cast<int>(x.cols) - src.col - col;
    int const inside = src.row + row >= end || cols < 0 ? 0 : cols < per_chunk ? cols : per_chunk;
    T const* const from = inside ? x.at(src.row + row, src.col + col, src.i, src.j) : x.data;
    ptx::copy_async(ptx::smem(&dst) + static_cast<std::uint32_t>(tile::offset(row, col)), from,
                    inside * tile::size);
  }
  ptx::copy_wait();
  ptx::proxy_fence();
  ptx::warp_sync();
}
template <class T, int R, int C>
TK_DEVICE void load_async(shared_tile<T, R, C>& dst, bounded_window_of<source<T, R, C>> const& src,
                          arrival done) {
  auto const& all = src.all;
  if (!all.of.tma) return load_plain(dst, all, done, src.end);
  if (all.row + R > src.end && src.end < all.of.x.rows)
    return load_rows_before(dst, all, src.end, done);
  load_async(dst, all, done);
}

// A tile that every block of a cluster wants: each fetches its share of the rows for all.
template <class T, int R, int C, int Share>
TK_DEVICE void load_shared(shared_tile<T, R, C>& dst, window_of<source<T, Share, C>> const& src,
                           arrival done) {
  using tile = shared_tile<T, R, C>;
  if constexpr (Share == R) {
    load_async(dst, src, done);
  } else {
    static_assert(R % Share == 0, "the blocks of a cluster load equal shares");
    if (!src.of.tma) return load_plain(dst, src, done);
    if (done.lane != 0) return;
    ptx::barrier_expect(done.bar, sizeof(dst.data));
    int const mine = done.rank * Share;
    TK_UNROLL
    for (int p = 0; p < tile::panels; ++p)
      ptx::tma_load_to_all(ptx::smem(&dst) + p * tile::panel_bytes + mine * tile::layout::row_bytes,
                           &src.of.map,
                           {src.col + tile::panel_cols * p, src.row + mine, src.i, src.j}, done.bar,
                           (1 << R / Share) - 1);
  }
}

// src[0, N); elements from `left` on are zero.
template <class T, int N>
TK_DEVICE void load_async(shared_vec<T, N>& dst, T const* src, int left, arrival done) {
  int const bytes = (left < N ? left : N) * static_cast<int>(sizeof(T));
  if (bytes > 0 && bytes % 16 == 0 && reinterpret_cast<std::uintptr_t>(src) % 16 == 0) {
    for (int n = bytes / 16 + done.lane; n < static_cast<int>(sizeof(dst.data)) / 16;
         n += warp_lanes)
      reinterpret_cast<chunk16*>(dst.data)[n] = {};
    if (bytes < static_cast<int>(sizeof(dst.data))) {
      ptx::proxy_fence();  // a later copy may land here
      ptx::warp_sync();
    }
    if (done.lane != 0) return;
    ptx::barrier_expect(done.bar, bytes);
    ptx::bulk_load(ptx::smem(&dst), src, bytes, done.bar);
  } else {
    for (int n = done.lane; n < N; n += warp_lanes) dst.data[n] = n < left ? src[n] : T{};
    ptx::proxy_fence();  // as above
    ptx::warp_sync();
  }
}

// All of it, from a multiple of 16 bytes.
template <class T, int N>
TK_DEVICE void load_async(shared_vec<T, N>& dst, T const* src, arrival done) {
  constexpr int bytes = N * static_cast<int>(sizeof(T));
  static_assert(bytes % 16 == 0);
  if (done.lane != 0) return;
  ptx::barrier_expect(done.bar, bytes);
  ptx::bulk_load(ptx::smem(&dst), src, bytes, done.bar);
}

// R rows of N columns from (row, col) on, each into a vector of its own, of which the rest is not
// written. Columns count from the 16-byte boundary at or before a row.
template <class T, int N, int R>
TK_DEVICE void load_async(shared_vec<T, N> (&dst)[R], tensor<T const> const& src, int row, int col,
                          arrival done) {
  constexpr int n = 16 / int{sizeof(T)};
  int const rows = static_cast<int>(src.rows) - row < R ? static_cast<int>(src.rows) - row : R;
  if (rows <= 0) return;
  if (src.cols % n == 0 && src.row_stride % n == 0 && shift_of(src, 0) == 0) {
    if (done.lane != 0) return;
    int const left = static_cast<int>(src.cols) - col, size = left < N ? left : N;
    if (size <= 0) return;
    int const bytes = size * int{sizeof(T)};
    ptx::barrier_expect(done.bar, rows * bytes);
    T const* from = src.at(row, col);
    if (left >= N && src.row_stride == N)
      return ptx::bulk_load(ptx::smem(&dst), from, rows * bytes, done.bar);
    TK_UNROLL
    for (int r = 0; r < R; ++r, from += src.row_stride)
      if (r < rows) ptx::bulk_load(ptx::smem(&dst[r]), from, bytes, done.bar);
    return;
  }
  for (int r = 0; done.lane == 0 && r < rows; ++r) {
    int const shift = shift_of(src, row + r), end = (static_cast<int>(src.cols) + shift) / n * n;
    int const begin = shift > 0 ? n : 0;
    int const first = col < begin ? begin : col, last = end < col + N ? end : col + N;
    if (first >= last) continue;
    int const bytes = (last - first) * int{sizeof(T)};
    ptx::barrier_expect(done.bar, bytes);
    ptx::bulk_load(ptx::smem(dst[r].data + (first - col)), src.at(row + r, first - shift), bytes,
                   done.bar);
  }
  if (copy_ends(dst, src, row, col, done.lane, warp_lanes)) ptx::proxy_fence();  // as above
  ptx::warp_sync();
}

// ---- registers and shared memory
// What this lane stored plainly is there for products, and what it loads is there for copies to
// overwrite, once a barrier of the worker has followed.
TK_DEVICE void publish_shared() { ptx::proxy_fence(); }
template <class T, int R, int C, class X>
TK_DEVICE void put_shared(shared_tile<T, R, C>& dst, X const& x) {
  using map = fragment_map<R, C>;
  static_assert(X::rows == R && X::cols == C, "a tile is stored to a shared tile of its own shape");
  if constexpr (sizeof(T) != 2) return put_pairs(dst, x, worker_lane());
  else {
    TK_UNROLL
    for (int block = 0; block < R / 64; ++block) TK_UNROLL
    for (int k = 0; k < C / 16; ++k) {
      int const i = block * (C / 2) + k * 8;
      ptx::stmatrix(matrix_at(dst, block, k), x.word(i / 2, map::row_index(i)),
                    x.word(i / 2 + 1, map::row_index(i + 2)),
                    x.word(i / 2 + 2, map::row_index(i + 4)),
                    x.word(i / 2 + 3, map::row_index(i + 6)));
    }
  }
}
// The same transposed, of tiles of 16 bits: element (r, c) of x to (c, r) of dst.
template <class T, int R, int C, class X>
  requires(sizeof(T) == 2)
TK_DEVICE void put_transposed(shared_tile<T, C, R>& dst, X const& x) {
  using map = fragment_map<R, C>;
  // Lane 8 m + i names row i of matrix m; 1 is below 0 in x, 2 and 3 are right of them.
  int const lane = worker_lane(), row = (lane >> 4 & 1) * 8 + (lane & 7);
  int const col = 16 * (lane >> 5) + (lane & 8);
  TK_UNROLL
  for (int block = 0; block < R / 64; ++block) TK_UNROLL
  for (int k = 0; k < C / 16; ++k) {
    int const i = block * (C / 2) + k * 8;
    ptx::stmatrix_transposed(
        ptx::smem(&dst) + dst.offset(16 * k + row, 64 * block + col),
        x.word(i / 2, map::row_index(i)), x.word(i / 2 + 1, map::row_index(i + 2)),
        x.word(i / 2 + 2, map::row_index(i + 4)), x.word(i / 2 + 3, map::row_index(i + 6)));
  }
}
// Products and TMA may read the tile once a barrier of the worker has followed.
template <class T, int R, int C, class X>
TK_DEVICE void store(shared_tile<T, R, C>& dst, X const& x) {
  static_assert(can_store<T, X>::value);
  put_shared(dst, x);
  ptx::proxy_fence();
}
// ---- registers to global
template <class T, int R, int V, class X>
TK_DEVICE void store(window_of<sink<T, R, V>> const& dst, X const& x) {
  static_assert(can_store<T, X>::value);
  store_tile(dst.of.x, dst.row, dst.col, dst.i, dst.j, x, dst.of.vector_width);
}
// By one lane: the tile t leaves for its place.
template <class T, int R, int C>
TK_DEVICE void begin_store(window_of<sink<T, R, C>> const& dst, shared_tile<T, R, C> const& t) {
  using tile = shared_tile<T, R, C>;
  TK_UNROLL
  for (int p = 0; p < tile::panels; ++p)
    ptx::tma_store(&dst.of.map, {dst.col + tile::panel_cols * p, dst.row, dst.i, dst.j},
                   ptx::smem(&t) + p * tile::panel_bytes);
  ptx::tma_store_commit();
}
// Through shared memory: the part-th of a series of stores that go through the tiles of `via` in
// turn, so that one is written while another leaves. Returns before the tile has left.
template <class T, int R, int C> using staging = shared_tile<T, R, C>[2];
template <class T, int R, int C, int Tiles, class X>
TK_DEVICE void store_async(worker w, window_of<sink<T, R, C>> const& dst, X const& x,
                           shared_tile<T, R, C> (&via)[Tiles], int part = 0) {
  static_assert(can_store<T, X>::value);
  if (!dst.of.tma) return store(dst, x);
  auto& t = via[part % Tiles];
  if (w.leader()) ptx::tma_store_read<Tiles - 1>();
  w.sync();
  put_shared(t, x);
  ptx::proxy_fence();
  w.sync();
  if (w.leader()) begin_store(dst, t);
}
template <class T, int R, int C, class X>
TK_DEVICE void store_async(worker w, window_of<sink<T, R, C>> const& dst, X const& x,
                           shared_tile<T, R, C>& via) {
  static_assert(can_store<T, X>::value);
  store_async(w, dst, x, reinterpret_cast<shared_tile<T, R, C>(&)[1]>(via));
}

// What this worker's store_asyncs went through may be written again.
TK_DEVICE void wait_stores_read(worker w) {
  if (w.leader()) ptx::tma_store_read<0>();
  w.sync();
}

template <class T, int R, int C, class X>
TK_DEVICE void store(bounded_window_of<sink<T, R, C>> const& dst, X const& x) {
  static_assert(can_store<T, X>::value);
  auto const& [of, row, col, i, j] = dst.all;
  store_tile(rows_before(of.x, dst.end), row, col, i, j, x, of.vector_width);
}
// A store that TMA can't do counts as one that it did, because rings count them.
template <class T, int R, int C, class X>
TK_DEVICE void store_async(worker w, bounded_window_of<sink<T, R, C>> const& dst, X const& x,
                           shared_tile<T, R, C>& via) {
  auto const& all = dst.all;
  if (all.row + R <= dst.end || all.of.x.rows <= dst.end) return store_async(w, all, x, via);
  store(dst, x);
  if (w.leader()) ptx::tma_store_commit();
}
// x transposed, element (r, c) to (row + c, col + r), through the tile `via`, which may be written:
// wait_stores_read has said so.
template <class T, int R, int C>
TK_DEVICE void store_async_transposed(worker w, bounded_window_of<sink<T, C, R>> const& dst,
                                      reg_tile<float, R, C> const& x, shared_tile<T, C, R>& via) {
  auto const& all = dst.all;
  bool const whole = all.row + C <= dst.end || all.of.x.rows <= dst.end;
  if (!all.of.tma || !whole) {
    store_transposed(rows_before(all.of.x, dst.end), all.row, all.col, all.i, all.j, x);
    if (w.leader()) ptx::tma_store_commit();
    return;
  }
  put_transposed<T, R, C>(via, cast<T>(x));
  ptx::proxy_fence();
  w.sync();
  if (w.leader()) begin_store(all, via);
}

// ---- sums in shared memory to global memory, by a warp that gives their place back
// (who.release()) once they have left (core/partial_tiles.hpp). On return they are there, for
// whoever is told so.
template <bool Add, int R, int C, int Tiles, class Who>
TK_DEVICE void move_partial(Who const& who, partial_tiles<R, C> const& tiles, std::int64_t n,
                            shared_partial<R, C> const (&x)[Tiles]) {
  if (who.leader()) {
    ptx::proxy_fence_global();
    float* const to = tiles.data + n * (R * C);
    if constexpr (Add) ptx::bulk_add(to, ptx::smem(&x), sizeof x);
    else ptx::bulk_store(to, ptx::smem(&x), sizeof x);
    ptx::tma_store_commit();
    ptx::tma_store_read<0>();
  }
  who.release();
  if (who.leader()) {
    ptx::tma_store_done();
    ptx::proxy_fence_global();
  }
}

}  // namespace tk::be

namespace tk {

template <class T, int R, int C, class X>
TK_DEVICE void store_relaxed(shared_tile<T, R, C>& dst, X const& x) {
  static_assert(can_store<T, X>::value);
  be::put_shared(dst, x);
}

template <class Who, int R, int C, int Tiles>
TK_DEVICE void store(Who const& who, partial_tiles<R, C> const& tiles, std::int64_t n,
                     shared_partial<R, C> const (&x)[Tiles]) {
  be::move_partial<false>(who, tiles, n, x);
}
template <class Who, int R, int C, int Tiles>
TK_DEVICE void add(Who const& who, partial_tiles<R, C> const& tiles, std::int64_t n,
                   shared_partial<R, C> const (&x)[Tiles]) {
  be::move_partial<true>(who, tiles, n, x);
}

}  // namespace tk
