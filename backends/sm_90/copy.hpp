// SPDX-License-Identifier: MIT
// Shared tiles and their movement. A shared_tile<T, R, C> lies in panels, one after another; a
// panel is R rows of 128 bytes (64 or 32 where C is too narrow), swizzled as TMA writes and wgmma
// reads them (core/layout.hpp). A source or sink carries the TMA map whose box is one panel, and
// the pointer and strides, which plain copies use where TMA's alignment rules don't hold. The
// moving warp calls loads with all its lanes; one of them issues TMA.
#pragma once
#include "backends/sm_90/fragment.hpp"
#include "core/move.hpp"
#include "core/reduce.hpp"

namespace tk {

template <class T, int R, int C> struct alignas(1024) shared_tile {
  static_assert(R % 16 == 0 && C % 16 == 0, "a tile's dimensions are multiples of 16");
  static_assert(R <= 256, "a shared tile has at most 256 rows");
  static constexpr int size = static_cast<int>(sizeof(T)), width = C * size;
  using element = T;
  using swizzle = chunk_swizzle<width % 128 == 0 ? 128 : width % 64 == 0 ? 64 : 32>;
  static constexpr int rows = R, cols = C, panel_cols = swizzle::row_bytes / size;
  static constexpr int panels = C / panel_cols, panel_bytes = R * swizzle::row_bytes;
  // Byte of an element.
  static TK_BOTH constexpr int offset(int row, int col) {
    return col / panel_cols * panel_bytes + swizzle::offset(row, col % panel_cols * size);
  }
  T data[R * C];
};

template <class T, int N> struct alignas(16) shared_vec {
  static_assert(N % 16 == 0, "a vector's length is a multiple of 16");
  T data[N];
};

// The i-th N columns of a tile, as a tile.
template <int N, class T, int R, int C>
TK_DEVICE shared_tile<T, R, N> const& columns(shared_tile<T, R, C> const& x, int i) {
  static_assert(N % shared_tile<T, R, C>::panel_cols == 0 && C % N == 0 &&
                    shared_tile<T, R, N>::panel_cols == shared_tile<T, R, C>::panel_cols,
                "columns() cuts whole panels");
  return *reinterpret_cast<shared_tile<T, R, N> const*>(x.data + i * R * N);
}

namespace be {

template <class T, int R, int C> struct source {
  ptx::tensor_map map;
  tensor<T const> x;
  int granule;
  bool tma;
};
template <class T, int R, int C> struct sink {
  ptx::tensor_map map;
  tensor<T> x;
  int granule;
  bool tma;
};

// Tiles in global memory that only workers write and read, each in the order in which the lanes
// hold it, so that every access is whole lines; R * C elements per tile. Not a layout to rely on.
template <int R, int C> struct parked {
  float* data;
};

// Where a load reports, which block of its cluster this one is, and this lane of the moving warp.
struct arrival {
  std::uint32_t bar;
  int rank, lane;
};

// One warpgroup: the owner of register tiles. `id` counts workers of a block.
struct worker {
  int index;
  TK_DEVICE int id() const { return index; }
  TK_DEVICE int lane() const { return worker_lane(); }
  TK_DEVICE bool leader() const { return lane() == 0; }
  TK_DEVICE void sync() const { ptx::named_sync(1 + index, worker_lanes); }
};

template <class X> TK_DEVICE char* bytes_of(X& x) { return reinterpret_cast<char*>(&x); }

// ---- global to shared
template <class T, int R, int C, int S>
TK_DEVICE void load_plain(shared_tile<T, R, C>& dst, window_of<source<T, S, C>> const& src,
                          arrival done) {
  using tile = shared_tile<T, R, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk;
  for (int n = done.lane; n < R * chunks; n += warp_lanes) {
    int const row = n / chunks, col = n % chunks * per_chunk;
    *reinterpret_cast<chunk16*>(bytes_of(dst) + tile::offset(row, col)) =
        read_chunk(src.of.x, src.of.granule, src.row + row, src.col + col, src.i, src.j);
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
      ptx::tma_load_to_all(
          ptx::smem(&dst) + p * tile::panel_bytes + mine * tile::swizzle::row_bytes, &src.of.map,
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
    ptx::warp_sync();
  }
}

// ---- registers and shared memory
// This lane's address for stmatrix and ldmatrix: 16 columns from 16 k on, rows of block `block`.
template <class T, int R, int C>
TK_DEVICE std::uint32_t matrix_at(shared_tile<T, R, C> const& x, int block, int k) {
  using tile = shared_tile<T, R, C>;
  int const lane = worker_lane(), row = 64 * block + 16 * (lane >> 5) + (lane & 15);
  constexpr int steps = tile::swizzle::row_bytes / 32;
  int const chunk = tile::swizzle::chunk(row, 2 * (k % steps) + (lane >> 4 & 1));
  return ptx::smem(&x) + k / steps * tile::panel_bytes + row * tile::swizzle::row_bytes +
         chunk * 16;
}
template <class T, int R, int C, class X>
TK_DEVICE void put_shared(shared_tile<T, R, C>& dst, X const& x) {
  using map = fragment_map<R, C>;
  static_assert(X::rows == R && X::cols == C, "a tile is stored to a shared tile of its own shape");
  TK_UNROLL
  for (int block = 0; block < R / 64; ++block) TK_UNROLL
  for (int k = 0; k < C / 16; ++k) {
    int const i = block * (C / 2) + k * 8;
    if constexpr (sizeof(T) == 2) {
      ptx::stmatrix(matrix_at(dst, block, k), x.word(i / 2, map::slot(i)),
                    x.word(i / 2 + 1, map::slot(i + 2)), x.word(i / 2 + 2, map::slot(i + 4)),
                    x.word(i / 2 + 3, map::slot(i + 6)));
    } else {
      struct alignas(8) two {
        float x, y;
      };
      TK_UNROLL
      for (int e = i; e < i + 8; e += 2) {
        int const row = map::lane_row(worker_lane()) + map::row(map::slot(e));
        int const col = map::lane_col(worker_lane()) + map::col(e);
        *reinterpret_cast<two*>(bytes_of(dst) + shared_tile<T, R, C>::offset(row, col)) = {
            x.value(e, map::slot(e)), x.value(e + 1, map::slot(e + 1))};
      }
    }
  }
}
// Products and TMA may read the tile once a barrier of the worker has followed.
template <class T, int R, int C, class X>
TK_DEVICE void store(shared_tile<T, R, C>& dst, X const& x) {
  put_shared(dst, x);
  ptx::proxy_fence();
}
template <class T, int R, int C>
TK_DEVICE void load(reg_tile<T, R, C>& dst, shared_tile<T, R, C> const& src) {
  using map = fragment_map<R, C>;
  TK_UNROLL
  for (int block = 0; block < R / 64; ++block) TK_UNROLL
  for (int k = 0; k < C / 16; ++k) {
    int const i = block * (C / 2) + k * 8;
    if constexpr (sizeof(T) == 2) {
      auto* const e = dst.e + i / 2;
      ptx::ldmatrix(matrix_at(src, block, k), e[0], e[1], e[2], e[3]);
    } else {
      TK_UNROLL
      for (int n = i; n < i + 8; ++n)
        dst.e[n] = *reinterpret_cast<float const*>(
            reinterpret_cast<char const*>(&src) +
            shared_tile<T, R, C>::offset(map::lane_row(worker_lane()) + map::row(map::slot(n)),
                                         map::lane_col(worker_lane()) + map::col(n)));
    }
  }
}
template <class T, int R, int C>
TK_DEVICE void load_transposed(reg_tile<T, R, C>& dst, shared_tile<T, C, R> const& src) {
  if constexpr (sizeof(T) == 2) {
    // Lane 8 m + i names row i of matrix m; 1 is below 0 in the result, 2 and 3 are right of them.
    int const lane = worker_lane(), row = (lane >> 4 & 1) * 8 + (lane & 7);
    int const col = 16 * (lane >> 5) + (lane & 8);
    TK_UNROLL
    for (int block = 0; block < R / 64; ++block) TK_UNROLL
    for (int k = 0; k < C / 16; ++k) {
      auto* const e = dst.e + (block * (C / 2) + k * 8) / 2;
      ptx::ldmatrix_transposed(ptx::smem(&src) + src.offset(16 * k + row, 64 * block + col), e[0],
                               e[1], e[2], e[3]);
    }
  } else {
    load_transposed_plain(dst, src);
  }
}
template <class T, int N> TK_DEVICE row_of<T, N> row(shared_vec<T, N> const& x) {
  return {x.data, N};
}

// ---- registers to global
template <class T, int R, int V, class X>
TK_DEVICE void store(window_of<sink<T, R, V>> const& dst, X const& x) {
  store_direct(dst.of.x, dst.row, dst.col, dst.i, dst.j, x, dst.of.granule);
}
// Through shared memory: the part-th of a series of stores that go through the tiles of `via` in
// turn, so that one is written while another leaves. Returns before the tile has left.
template <class T, int R, int C, int Tiles, class X>
TK_DEVICE void store_async(worker w, window_of<sink<T, R, C>> const& dst, X const& x,
                           shared_tile<T, R, C> (&via)[Tiles], int part = 0) {
  using tile = shared_tile<T, R, C>;
  if (!dst.of.tma) return store(dst, x);
  auto& t = via[part % Tiles];
  if (w.leader()) ptx::tma_store_read<Tiles - 1>();
  w.sync();
  put_shared(t, x);
  ptx::proxy_fence();
  w.sync();
  if (!w.leader()) return;
  TK_UNROLL
  for (int p = 0; p < tile::panels; ++p)
    ptx::tma_store(&dst.of.map, {dst.col + tile::panel_cols * p, dst.row, dst.i, dst.j},
                   ptx::smem(&t) + p * tile::panel_bytes);
  ptx::tma_store_commit();
}
template <class T, int R, int C, class X>
TK_DEVICE void store_async(worker w, window_of<sink<T, R, C>> const& dst, X const& x,
                           shared_tile<T, R, C>& via) {
  store_async(w, dst, x, reinterpret_cast<shared_tile<T, R, C>(&)[1]>(via));
}

// ---- parked tiles: body(at, i) for each four numbers of a lane
struct alignas(16) four_floats {
  float x[4];
};
template <int R, int C, class Body>
TK_DEVICE void for_each_four(parked<R, C> const& lot, std::int64_t tile, Body body) {
  auto* const first = reinterpret_cast<four_floats*>(lot.data + tile * (R * C)) + worker_lane();
  TK_UNROLL
  for (int i = 0; i < R * C / worker_lanes / 4; ++i) body(first + i * worker_lanes, i);
}
template <int R, int C>
TK_DEVICE void store(parked<R, C> const& to, std::int64_t tile, reg_tile<float, R, C> const& x) {
  for_each_four(to, tile, [&](four_floats* at, int i) {
    *at = {{x.e[4 * i], x.e[4 * i + 1], x.e[4 * i + 2], x.e[4 * i + 3]}};
  });
}
template <int R, int C>
TK_DEVICE void store_add(parked<R, C> const& to, std::int64_t tile,
                         reg_tile<float, R, C> const& x) {
  for_each_four(to, tile, [&](four_floats* at, int i) {
    ptx::add_to_global(at->x, x.e[4 * i], x.e[4 * i + 1], x.e[4 * i + 2], x.e[4 * i + 3]);
  });
}
template <int R, int C>
TK_DEVICE void load(reg_tile<float, R, C>& x, parked<R, C> const& from, std::int64_t tile) {
  for_each_four(from, tile, [&](four_floats const* at, int i) {
    four_floats const y = *at;
    TK_UNROLL
    for (int e = 0; e < 4; ++e) x.e[4 * i + e] = y.x[e];
  });
}
template <int R, int C>
TK_DEVICE void load_add(reg_tile<float, R, C>& x, parked<R, C> const& from, std::int64_t tile) {
  for_each_four(from, tile, [&](four_floats const* at, int i) {
    four_floats const y = *at;
    TK_UNROLL
    for (int e = 0; e < 4; ++e) x.e[4 * i + e] += y.x[e];
  });
}

}  // namespace be
}  // namespace tk
