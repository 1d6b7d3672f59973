// SPDX-License-Identifier: MIT
// What every NVIDIA backend moves between registers and shared tiles (core/shared.hpp), and from
// registers to global memory; and the worker.
#pragma once
#include "backends/backend.hpp"
#include "core/move.hpp"
#include "core/shuffle_word.hpp"

namespace tk::be {

// Four warps: the owner of register tiles. `id` counts workers of a block.
struct worker {
  int index;
  TK_DEVICE int id() const { return index; }
  TK_DEVICE int lane() const { return worker_lane(); }
  TK_DEVICE bool leader() const { return lane() == 0; }
  TK_DEVICE void sync() const { ptx::named_sync(1 + index, worker_lanes); }
};

template <class X> TK_DEVICE char* bytes_of(X& x) { return reinterpret_cast<char*>(&x); }

// ---- registers and shared memory
// This lane's address for stmatrix and ldmatrix: 16 columns from 16 k on, rows of block `block`.
template <class T, int R, int C>
TK_DEVICE std::uint32_t matrix_at(shared_tile<T, R, C> const& x, int block, int k) {
  using tile = shared_tile<T, R, C>;
  int const lane = worker_lane(), row = 64 * block + 16 * (lane >> 5) + (lane & 15);
  constexpr int steps = tile::layout::row_bytes / 32;
  int const chunk = tile::layout::chunk(row, 2 * (k % steps) + (lane >> 4 & 1));
  return ptx::smem(&x) + k / steps * tile::panel_bytes + row * tile::layout::row_bytes + chunk * 16;
}
// Element pairs of one lane, of the part-th R rows of x, by ordinary stores. A lane's rows differ
// by multiples of eight, on which the swizzle does not depend, and its columns by multiples of what
// the lanes have side by side: so place(row, col) = place(lane_row, lane_col) ^ col's bytes +
// row's.
template <class T, int R, int C, class X>
TK_DEVICE void put_pairs(shared_tile<T, R, C>& dst, X const& x, int lane, int part = 0) {
  using map = fragment_map<X::rows, C>;
  using tile = shared_tile<T, R, C>;
  static_assert(X::rows % R == 0 && X::cols == C,
                "a tile is stored to a shared tile of its own shape");
  constexpr int count = R * C / map::lanes;
  struct alignas(8) two {
    float x, y;
  };
  int const place = tile::offset(map::lane_row(lane), map::lane_col(lane));
  TK_UNROLL
  for (int i = 0; i < count; i += 2) {
    int const e = part * count + i, r = map::row_index(e);
    int const row = map::row(r) - part * R, byte = map::col(e) % tile::panel_cols * tile::size;
    char* const p =
        bytes_of(dst) + (place ^ byte) +
        (map::col(e) / tile::panel_cols * tile::panel_bytes + row * tile::layout::row_bytes);
    if constexpr (sizeof(T) == 4) *reinterpret_cast<two*>(p) = {x.value(e, r), x.value(e + 1, r)};
    else *reinterpret_cast<pair_of<T>*>(p) = static_cast<pair_of<T>>(x.word(e / 2, r));
  }
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
      using held = std::remove_reference_t<decltype(dst.e[0])>;  // a float, or a pair
      constexpr int step = sizeof(T) == 4 ? 1 : 2;
      TK_UNROLL
      for (int n = i; n < i + 8; n += step)
        dst.e[n / step] = *reinterpret_cast<held const*>(
            reinterpret_cast<char const*>(&src) +
            shared_tile<T, R, C>::offset(map::lane_row(worker_lane()) + map::row(map::row_index(n)),
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

// ---- registers to global
// Words w[0..3] of the four lanes of a quad, transposed: lane t gets w[t] of lanes 0, 1, 2, 3.
TK_DEVICE void transpose_quad(std::uint32_t (&w)[4]) {
  int const lane = worker_lane();
  bool const odd = lane & 1, upper = lane & 2;
  std::uint32_t const a = shuffle_word(odd ? w[0] : w[1], 1),
                      b = shuffle_word(odd ? w[2] : w[3], 1);
  std::uint32_t const p[4] = {odd ? a : w[0], odd ? w[1] : a, odd ? b : w[2], odd ? w[3] : b};
  std::uint32_t const c = shuffle_word(upper ? p[0] : p[2], 2),
                      d = shuffle_word(upper ? p[1] : p[3], 2);
  w[0] = upper ? c : p[0], w[1] = upper ? d : p[1];
  w[2] = upper ? p[2] : c, w[3] = upper ? p[3] : d;
}
// x to dst at (row, col), 16 bytes at a time: the lanes of a quad, which hold neighbours, exchange
// them first. For 16-bit elements whose rows, and their ends, lie at multiples of 16 bytes.
template <class T, class X>
TK_DEVICE void store_chunks(tensor<T> const& dst, int row, int col, int i, int j, X const& x) {
  using map = fragment_map<X::rows, X::cols>;
  constexpr int width = 32;  // columns of a quad's four chunks
  static_assert(X::cols % width == 0);
  int const lane = worker_lane(), first = col + 8 * (lane & 3);
  TK_UNROLL
  for (int r = 0; r < map::rows_per_lane; ++r) {
    int const at = row + map::lane_row(lane) + map::row(r);
    T* const line = dst.at(at, first, i, j);
    TK_UNROLL
    for (int c = 0; c < X::cols; c += width) {
      std::uint32_t w[4];
      TK_UNROLL
      for (int k = 0; k < 4; ++k) w[k] = x.word(map::element(r, c / 4 + 2 * k) / 2, r);
      transpose_quad(w);
      if (at < dst.rows && first + c < dst.cols)
        *reinterpret_cast<chunk16*>(line + c) = {{w[0], w[1], w[2], w[3]}};
    }
  }
}
template <class T, class X>
TK_DEVICE void store_tile(tensor<T> const& dst, int row, int col, int i, int j, X const& x,
                          int vector_width) {
  if constexpr (sizeof(T) == 2 && X::cols % 32 == 0) {
    if (vector_width == 8 && dst.cols % 8 == 0) return store_chunks(dst, row, col, i, j, x);
  }
  store_direct(dst, row, col, i, j, x, vector_width);
}

}  // namespace tk::be
