// SPDX-License-Identifier: MIT
// Shared tiles and vectors as every chip has them; how they are filled, read and stored is up to
// the backend (copy.hpp).
// A shared_tile<T, R, C> lies in panels, one after another. A panel is R rows of 128 bytes, or of
// 64 or 32 where C is no multiple of as many, and be::panel_layout says where in it a byte lies
// (panel.hpp).
#pragma once
#include <atomic>
#include <utility>

#include "core/expression.hpp"

#include TK_BACKEND(panel.hpp)

namespace tk {

template <class T, int R, int C> struct alignas(be::tile_alignment) shared_tile {
  static_assert(R % 16 == 0 && C % 16 == 0, "a tile's dimensions are multiples of 16");
  static_assert(C * sizeof(T) % 32 == 0, "a shared tile of fp8 has a multiple of 32 columns");
  using element = T;
  static constexpr int size = static_cast<int>(sizeof(T)), width = C * size;
  using layout = be::panel_layout<width % 128 == 0 ? 128 : width % 64 == 0 ? 64 : 32>;
  static constexpr int rows = R, cols = C, panel_cols = layout::row_bytes / size;
  static constexpr int panels = C / panel_cols, panel_bytes = R * layout::row_bytes;
  // Byte of an element.
  static TK_BOTH constexpr int offset(int row, int col) {
    return col / panel_cols * panel_bytes + layout::offset(row, col % panel_cols * size);
  }
  T data[R * C];
};
template <class X> inline constexpr bool is_shared = false;
template <class T, int R, int C> inline constexpr bool is_shared<shared_tile<T, R, C>> = true;

template <class T, int N> struct alignas(16) shared_vec {
  static_assert(N % 16 == 0, "a vector's length is a multiple of 16");
  T data[N];
};
// The vector as a row of an expression, read where it is used.
template <class T, int N> TK_DEVICE row_of<T, N> as_row(shared_vec<T, N> const& x) {
  return {x.data, N};
}

// The i-th N columns of a tile, as a tile.
template <int N, class T, int R, int C>
TK_DEVICE shared_tile<T, R, N> const& columns(shared_tile<T, R, C> const& x, int i) {
  static_assert(N % shared_tile<T, R, C>::panel_cols == 0 && C % N == 0 &&
                    shared_tile<T, R, N>::panel_cols == shared_tile<T, R, C>::panel_cols,
                "columns() cuts whole panels");
  return *reinterpret_cast<shared_tile<T, R, N> const*>(x.data + i * R * N);
}
template <int N, class T, int R, int C>
TK_DEVICE shared_tile<T, R, N>& columns(shared_tile<T, R, C>& x, int i) {
  return const_cast<shared_tile<T, R, N>&>(columns<N>(std::as_const(x), i));
}

// The i-th N rows of a tile of one panel, as a tile; the i-th N of a vector.
template <int N, class T, int R, int C>
TK_DEVICE shared_tile<T, N, C> const& rows(shared_tile<T, R, C> const& x, int i) {
  static_assert(shared_tile<T, R, C>::panels == 1 && R % N == 0, "rows() cuts a panel");
  return *reinterpret_cast<shared_tile<T, N, C> const*>(x.data + i * N * C);
}
template <int N, class T, int M>
TK_DEVICE shared_vec<T, N> const& elements(shared_vec<T, M> const& x, int i) {
  static_assert(M % N == 0);
  return *reinterpret_cast<shared_vec<T, N> const*>(x.data + i * N);
}

// The memory of a tile, or of several, as another tile, of which nothing is there yet. All lanes
// have met since the first ones were used; compilers must not move that past this.
template <class Tile, class From> TK_DEVICE Tile& reuse(From& from) {
  static_assert(sizeof(Tile) <= sizeof(From) && alignof(Tile) <= alignof(From));
  if constexpr (be::worker_lanes == 1 && sizeof(Tile) > 0)
    std::atomic_signal_fence(std::memory_order_seq_cst);
  return *static_cast<Tile*>(static_cast<void*>(&from));
}

}  // namespace tk
