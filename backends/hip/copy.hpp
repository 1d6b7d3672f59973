// SPDX-License-Identifier: MIT
// Movement of shared tiles. Global memory goes straight to LDS, as many bytes per lane as
// the chip copies at once where rows begin at multiples of that, four where at multiples of four;
// else through registers. Waves that load a tile together take its pieces in turn. Stores leave
// straight from registers.
#pragma once
#include "backends/hip/fragment.hpp"
#include "core/move.hpp"

namespace tk::be {

// A tensor in few registers, made by read_from() and write_to() (launch.hpp). row_bytes is 0 where
// rows can't be copied straight to LDS.
template <class T> struct view {
  T* data;
  std::int64_t row_stride, stride0, stride1;
  int rows, cols, vector_width;
  std::uint32_t row_bytes;
  // The matrix at two outer indices.
  TK_BOTH tensor<T> at(int i, int j) const {
    return {data + (i * stride0 + j * stride1), rows, cols, row_stride};
  }
};
template <class T, int R, int C> struct source : view<T const> {};
template <class T, int R, int C> struct sink : view<T> {};

// Which of how many waves this one is, of those that load a tile together, and how many pieces it
// has sent on their way.
struct arrival {
  int wave, waves;
  int& copies;
};

// One wave: the owner of register tiles. `id` counts workers of a block.
struct worker {
  int index;
  TK_DEVICE int id() const { return index; }
  TK_DEVICE int lane() const { return worker_lane(); }
  TK_DEVICE bool leader() const { return lane() == 0; }
  TK_DEVICE void sync() const { gcn::sync_wave(); }
};

template <class X> TK_DEVICE char* bytes_of(X& x) { return reinterpret_cast<char*>(&x); }
template <class X> TK_DEVICE char const* bytes_of(X const& x) {
  return reinterpret_cast<char const*>(&x);
}

// ---- global to shared
inline constexpr int copy_bytes = copy_lane_bytes * warp_lanes;  // of one copy by one wave
// Bytes of a copy by one lane, such that a panel is whole copies by one wave.
template <class Tile>
inline constexpr int lane_bytes = Tile::panel_bytes % copy_bytes == 0 ? copy_lane_bytes : 4;

// Any strides, any alignment.
template <class T, int R, int C, int S>
TK_DEVICE void load_plain(shared_tile<T, R, C>& dst, window_of<source<T, S, C>> const& src,
                          arrival done) {
  using tile = shared_tile<T, R, C>;
  constexpr int per_chunk = 16 / tile::size, chunks = C / per_chunk;
  auto const& from = src.of;
  int const vector_width = gcn::opaque(from.vector_width);
  auto const x = from.at(src.i, src.j);
  for (int n = done.wave * warp_lanes + worker_lane(); n < R * chunks;
       n += done.waves * warp_lanes) {
    int const row = n / chunks, col = n % chunks * per_chunk;
    *reinterpret_cast<chunk16*>(bytes_of(dst) + tile::offset(row, col)) =
        read_chunk(x, vector_width, src.row + row, src.col + col, 0, 0);
  }
}
// Straight to LDS. A lane's bytes are in the tensor or not, whole; what is not becomes zero.
template <bool Inside, int Bytes, class T, int R, int C, int S>
TK_DEVICE void load_direct(shared_tile<T, R, C>& dst, window_of<source<T, S, C>> const& src,
                           arrival done) {
  using tile = shared_tile<T, R, C>;
  constexpr int piece = Bytes * warp_lanes, rows_at_once = piece / tile::layout::row_bytes;
  constexpr int pieces = R / rows_at_once;
  auto const& x = src.of;
  std::uint64_t const row_bytes = x.row_bytes;
  char const* const corner = reinterpret_cast<char const*>(x.at(src.i, src.j).data) +
                             (static_cast<std::uint32_t>(src.row) * row_bytes +
                              static_cast<std::uint64_t>(src.col) * tile::size);
  auto const copy = [&](int p, int n) {
    auto const at = tile::layout::at(n * piece + Bytes * worker_lane());
    int const first = n * rows_at_once;
    auto const row = static_cast<std::uint32_t>(at.row - first);
    char const* const from =
        corner + (static_cast<std::uint32_t>(first) * row_bytes + p * tile::layout::row_bytes);
    char* const to = bytes_of(dst) + p * tile::panel_bytes + n * piece;
    if constexpr (Inside) {
      gcn::copy_to_lds<Bytes>(to, from, row * x.row_bytes + static_cast<std::uint32_t>(at.byte));
    } else {
      bool const there = src.row + at.row < x.rows &&
                         src.col + p * tile::panel_cols + at.byte / tile::size < x.cols;
      gcn::copy_to_lds<Bytes>(to, there ? from + (row * row_bytes + at.byte) : nullptr);
    }
    ++done.copies;
  };
  if (Inside && done.waves > 1 && pieces % done.waves == 0) {  // once per step
    TK_UNROLL
    for (int p = 0; p < tile::panels; ++p) TK_UNROLL
    for (int round = 0; round < pieces / done.waves; ++round)
      copy(p, round * done.waves + done.wave);
  } else if (Inside && done.waves > 1) {
    constexpr int all = tile::panels * pieces;
    auto const copy_nth = [&](unsigned n) {
      copy(static_cast<int>(n / pieces), static_cast<int>(n % pieces));
    };
    TK_UNROLL
    for (int round = 0; round < all / done.waves; ++round)
      copy_nth(static_cast<unsigned>(round * done.waves + done.wave));
    if (done.wave < all % done.waves)
      copy_nth(static_cast<unsigned>(all - all % done.waves + done.wave));
  } else {
    TK_ROLL
    for (int n = done.wave; n < tile::panels * pieces; n += done.waves)
      copy(n / pieces, n % pieces);
  }
}
// Share is for clusters, which this chip does not have.
template <class T, int R, int C, int Share>
TK_DEVICE void load_shared(shared_tile<T, R, C>& dst, window_of<source<T, Share, C>> const& given,
                           arrival done) {
  static_assert(R % Share == 0, "the blocks of a cluster load equal shares");
  // What was divided lies in vector registers, from which addresses may not be made (clang 22).
  window_of<source<T, Share, C>> const src{given.of, gcn::broadcast(given.row),
                                           gcn::broadcast(given.col), gcn::broadcast(given.i),
                                           gcn::broadcast(given.j)};
  constexpr int size = shared_tile<T, R, C>::size, most = lane_bytes<shared_tile<T, R, C>>;
  auto const& x = src.of;
  int const left = x.cols - src.col;
  // Rows begin, and what is left of one ends, at multiples of so many bytes.
  auto const in_pieces = [&](int bytes) {
    return x.row_bytes && (bytes == 4 || x.vector_width * size >= bytes) &&
           (left >= C || left * size % bytes == 0);
  };
  if (left >= C && src.row + R <= x.rows && in_pieces(most))
    return load_direct<true, most>(dst, src, done);
  window_of<source<T, Share, C>> const rare{x, gcn::opaque(src.row), gcn::opaque(src.col),
                                            gcn::opaque(src.i), gcn::opaque(src.j)};
  if (in_pieces(most)) return load_direct<false, most>(dst, rare, done);
  if constexpr (most > 4)
    if (in_pieces(4)) return load_direct<false, 4>(dst, rare, done);
  load_plain(dst, rare, done);
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
  source<T, R, C> const bounded = rows_before(of, gcn::broadcast(src.end));  // as in load_shared
  load_shared(dst, window(bounded, row, col, i, j), done);
}

// src[0, N); elements from `left` on are zero.
template <class T, int N>
TK_DEVICE void load_async(shared_vec<T, N>& dst, T const* src, int left, arrival done) {
  for (int n = done.wave * warp_lanes + worker_lane(); n < N; n += done.waves * warp_lanes)
    dst.data[n] = n < left ? src[n] : T{};
}

// All of it, from a multiple of 16 bytes.
template <class T, int N>
TK_DEVICE void load_async(shared_vec<T, N>& dst, T const* src, arrival done) {
  load_async(dst, src, N, done);
}

// R rows of N columns from (row, col) on, each into a vector of its own, of which the rest is not
// written. Columns count from the 16-byte boundary at or before a row.
template <class T, int N, int R>
TK_DEVICE void load_async(shared_vec<T, N> (&dst)[R], tensor<T const> const& src, int row, int col,
                          arrival done) {
  constexpr int n = 16 / int{sizeof(T)};
  int const lane = done.wave * warp_lanes + worker_lane(), lanes = done.waves * warp_lanes;
  copy_ends(dst, src, row, col, lane, lanes);
  for (int r = 0; r < R && row + r < src.rows; ++r) {
    int const first = shift_of(src, row + r) - col, last = static_cast<int>(src.cols) + first;
    for (int k = lane * n; k < N; k += lanes * n)
      if (first <= k && k + n <= last)
        *reinterpret_cast<chunk16*>(dst[r].data + k) =
            *reinterpret_cast<chunk16 const*>(src.at(row + r, k - first));
  }
}

// ---- registers and shared memory
// What this lane stored plainly is there for products, and what it loads is there for copies to
// overwrite, once a barrier of the worker has followed.
TK_DEVICE void publish_shared() {}
// A lane's runs of W columns: body(first element, r, row, col), r the row among the lane's.
template <int R, int C, class Body> TK_DEVICE void for_each_run(Body body) {
  using map = fragment_map<R, C>;
  int const lane = lane_of_tile<(R * C >= 64 * 64)>();
  int const row = map::lane_row(lane), col = map::lane_col(lane);
  TK_UNROLL
  for (int i = 0; i < map::count; i += map::W)
    body(i, map::row_index(i), row + map::row(map::row_index(i)), col + map::col(i));
}
template <int Words> struct alignas(4 * Words) word_run {
  std::uint32_t w[Words];
};
// Elements [i, i + 4 Words / sizeof(T)) of x, rounded to T.
template <class T, int Words, class X> TK_DEVICE word_run<Words> run_of(X const& x, int i, int r) {
  word_run<Words> y;
  TK_UNROLL
  for (int n = 0; n < Words; ++n) {
    if constexpr (sizeof(T) == 2) y.w[n] = x.word(i / 2 + n, r);
    else if constexpr (sizeof(T) == 1)
      y.w[n] = x.word(i / 2 + 2 * n, r) | x.word(i / 2 + 2 * n + 1, r) << 16;
    else y.w[n] = std::bit_cast<std::uint32_t>(x.value(i + n, r));
  }
  return y;
}

// Read by other lanes once a barrier of the worker has followed.
template <class T, int R, int C, class X>
TK_DEVICE void store(shared_tile<T, R, C>& dst, X const& x) {
  static_assert(can_store<T, X>::value);
  static_assert(X::rows == R && X::cols == C, "a tile is stored to a shared tile of its own shape");
  constexpr int W = fragment_map<R, C>::W, at_once = W * sizeof(T) < 16 ? W : 16 / sizeof(T);
  constexpr int words = at_once * sizeof(T) / 4;
  for_each_run<R, C>([&](int i, int r, int row, int col) {
    TK_UNROLL
    for (int n = 0; n < W; n += at_once)
      *reinterpret_cast<word_run<words>*>(bytes_of(dst) + dst.offset(row, col + n)) =
          run_of<T, words>(x, i + n, r);
  });
}
template <class T, int R, int C>
TK_DEVICE void load(reg_tile<T, R, C>& dst, shared_tile<T, R, C> const& src) {
  constexpr int W = fragment_map<R, C>::W, at_once = W * sizeof(T) < 16 ? W : 16 / sizeof(T);
  constexpr int words = at_once * sizeof(T) / 4;
  for_each_run<R, C>([&](int i, int, int row, int col) {
    TK_UNROLL
    for (int n = 0; n < W; n += at_once) {
      auto const x =
          *reinterpret_cast<word_run<words> const*>(bytes_of(src) + src.offset(row, col + n));
      TK_UNROLL
      for (int k = 0; k < words; ++k) {
        if constexpr (sizeof(T) == 4) {
          dst.e[i + n + k] = std::bit_cast<float>(x.w[k]);
        } else if constexpr (sizeof(T) == 2) {
          dst.e[(i + n) / 2 + k] = x.w[k];
        } else {
          dst.e[(i + n) / 2 + 2 * k] = static_cast<std::uint16_t>(x.w[k]);
          dst.e[(i + n) / 2 + 2 * k + 1] = static_cast<std::uint16_t>(x.w[k] >> 16);
        }
      }
    }
  });
}
template <class T, int R, int C>
TK_DEVICE void load_transposed(reg_tile<T, R, C>& dst, shared_tile<T, C, R> const& src) {
  load_transposed_plain(dst, src);
}
// ---- registers to global
template <class T, int R, int C, class X>
TK_DEVICE void store(window_of<sink<T, R, C>> const& dst, X const& x) {
  static_assert(can_store<T, X>::value);
  constexpr int W = fragment_map<X::rows, X::cols>::W, per_chunk = 16 / sizeof(T);
  constexpr int at_once = W < per_chunk ? W : per_chunk, words = at_once * sizeof(T) / 4;
  auto const& to = dst.of;
  auto const y = to.at(dst.i, dst.j);
  if (to.vector_width < at_once || dst.row + X::rows > to.rows || dst.col + X::cols > to.cols)
    return store_direct(y, gcn::opaque(dst.row), gcn::opaque(dst.col), 0, 0, x,
                        gcn::opaque(to.vector_width));
  T* const corner = y.at(dst.row, dst.col);
  for_each_run<X::rows, X::cols>([&](int i, int r, int row, int col) {
    TK_UNROLL
    for (int n = 0; n < W; n += at_once)
      *reinterpret_cast<word_run<words>*>(corner + (row * y.row_stride + col + n)) =
          run_of<T, words>(x, i + n, r);
  });
}
// The tiles to go through on other chips are not needed.
template <class T, int R, int C> struct staging {};
template <class T, int R, int C, class X, class Via>
TK_DEVICE void store_async(worker, window_of<sink<T, R, C>> const& dst, X const& x, Via&, int = 0) {
  static_assert(can_store<T, X>::value);
  store(dst, x);
}

// Of what stores go through (backends/sm_90/copy.hpp).
TK_DEVICE void wait_stores_read(worker) {}

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
  store_transposed(rows_before(of.at(i, j), dst.end), row, col, 0, 0, x);
}

}  // namespace tk::be
