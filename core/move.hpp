// SPDX-License-Identifier: MIT
// Movement that needs no special hardware: bounded chunks of global rows, and register tiles
// straight to and from global memory. Every backend falls back to these; they are right for any
// strides and any alignment down to the element's own.
#pragma once
#include "core/shared.hpp"

namespace tk {

struct alignas(16) chunk16 {
  std::uint32_t w[4];
};

// The vector width of a tensor: its widest aligned vector access, in elements (a power of two, at
// most 16 bytes). Such an access may begin at every column that is a multiple of it, in every row.
template <class T> inline int vector_width_of(tensor<T> const& x) {
  std::int64_t bytes = 16;
  auto const limit = [&](std::int64_t n) {
    while (n % bytes != 0) bytes /= 2;
  };
  limit(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(x.data) % 16));
  if (x.rows > 1) limit(x.row_stride * static_cast<int>(sizeof(T)));
  if (x.n0 > 1) limit(x.stride0 * static_cast<int>(sizeof(T)));
  if (x.n1 > 1) limit(x.stride1 * static_cast<int>(sizeof(T)));
  return static_cast<int>(bytes / static_cast<int>(sizeof(T)));
}

// Elements of a row that move at once: 16 bytes, but no more than the 8 columns that a lane has
// side by side (core/flat_map.hpp).
template <class T> inline constexpr int chunk_of = sizeof(T) == 4 ? 4 : 8;
template <class T> inline constexpr int chunk_bytes = chunk_of<T> * static_cast<int>(sizeof(T));

// The columns from the boundary of chunks at or before a row to the row.
template <class T> TK_BOTH int shift_of(T const* row) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(row) % chunk_bytes<T> / sizeof(T));
}
template <class T> TK_BOTH int shift_of(tensor<T> const& x, std::int64_t row) {
  return shift_of(x.at(row, 0));
}

// Of rows that begin and end anywhere, whose columns count from the boundary before them, the
// elements in chunks of 16 bytes that are not a row's as a whole: dst[r][c] becomes column col + c
// of row `row` + r. By this lane of `lanes`; whether it wrote any.
template <class T, int N, int R>
[[nodiscard]] TK_DEVICE bool copy_ends(shared_vec<T, N> (&dst)[R], tensor<T const> const& src,
                                       int row, int col, int lane, int lanes) {
  constexpr int n = 16 / static_cast<int>(sizeof(T));
  bool any = false;
  for (int k = lane; k < R * 2 * n && row + k / (2 * n) < src.rows; k += lanes) {
    int const r = k / (2 * n), i = k % (2 * n), shift = shift_of(src, row + r);
    int const cols = static_cast<int>(src.cols) + shift, whole = shift > 0 ? n : 0;
    int const c = i < n ? i : cols / n * n + i - n;  // in the first chunk or in the last
    bool const of_part = i < n ? c < whole : c >= whole;
    if (!of_part || c < shift || c >= cols || c < col || c >= col + N) continue;
    dst[r].data[c - col] = *src.at(row + r, c - shift);
    any = true;
  }
  return any;
}

template <int Words, class T> TK_DEVICE void read_words(std::uint32_t* dst, T const* src) {
  struct alignas(4 * Words) words {
    std::uint32_t w[Words];
  };
  auto const x = *reinterpret_cast<words const*>(src);
  TK_UNROLL
  for (int i = 0; i < Words; ++i) dst[i] = x.w[i];
}

// To global memory.
template <int Words, class T> TK_DEVICE void write_words(T* dst, std::uint32_t const* src) {
  if constexpr (Words == 4) {
    be::write_16_bytes(dst, src);
  } else {
    struct alignas(4 * Words) words {
      std::uint32_t w[Words];
    } x;
    TK_UNROLL
    for (int i = 0; i < Words; ++i) x.w[i] = src[i];
    *reinterpret_cast<words*>(dst) = x;
  }
}

// The 16 bytes from (row, col) on, zero outside the tensor; col is a multiple of 16 bytes.
template <class T>
TK_DEVICE chunk16 read_chunk(tensor<T const> const& x, int vector_width, int row, int col, int i,
                             int j) {
  constexpr int n = 16 / static_cast<int>(sizeof(T)), per_word = 4 / static_cast<int>(sizeof(T));
  chunk16 y{};
  if (row >= x.rows || col >= x.cols) return y;
  T const* const p = x.at(row, col, i, j);
  if (col + n <= x.cols && vector_width >= 2 * per_word) {
    if (vector_width == n) {
      read_words<4>(y.w, p);
    } else {
      read_words<2>(y.w, p);
      read_words<2>(y.w + 2, p + n / 2);
    }
  } else if (col + n <= x.cols && vector_width == per_word) {
    TK_UNROLL
    for (int k = 0; k < 4; ++k) read_words<1>(y.w + k, p + k * per_word);
  } else if constexpr (sizeof(T) == 4) {
    TK_UNROLL
    for (int k = 0; k < 4; ++k)
      if (col + k < x.cols) read_words<1>(y.w + k, p + k);
  } else if (col > 0 && col + n + per_word - 2 < x.cols) {  // whole words, with what lies beside
    auto const at = reinterpret_cast<std::uintptr_t>(p);
    auto const* const words = reinterpret_cast<std::uint32_t const*>(at & ~std::uintptr_t{3});
    if (at % 4 == 0) {
      TK_UNROLL
      for (int k = 0; k < 4; ++k) y.w[k] = words[k];
    } else {
      int const shift = sizeof(T) == 2 ? 16 : static_cast<int>(at % 4) * 8;
      TK_UNROLL
      for (int k = 0; k < 4; ++k) y.w[k] = words[k] >> shift | words[k + 1] << (32 - shift);
    }
  } else {
    TK_UNROLL
    for (int k = 0; k < n; ++k)
      if (col + k < x.cols)
        y.w[k / per_word] |= std::uint32_t{p[k].bits} << k % per_word * (32 / per_word);
  }
  return y;
}

// dst = src in R rows and C columns from (row, col) on, by the lanes of a worker. Rows of dst begin
// at multiples of 16 bytes; up to the next one, the last chunk of each is filled with zeros.
template <int R, int C, class T>
TK_DEVICE void copy_rows(tensor<T> const& dst, tensor<T const> const& src, int vector_width,
                         int row, int col, int i, int j) {
  constexpr int n = 16 / static_cast<int>(sizeof(T)), chunks = C / n;
  constexpr int each = R * chunks / be::worker_lanes;
  static_assert(R * chunks % be::worker_lanes == 0, "every lane copies as many chunks");
  TK_UNROLL
  for (int k = 0; k < each; ++k) {
    int const c = be::worker_lane() + k * be::worker_lanes;
    int const r = row + c / chunks, at = col + c % chunks * n;
    if (r < src.rows && at < src.cols)
      *reinterpret_cast<chunk16*>(dst.at(r, at, i, j)) = read_chunk(src, vector_width, r, at, i, j);
  }
}

// What may be stored to elements of type T: a cast to T, or a packed tile of T.
template <class T, class X> struct can_store {
  static constexpr bool is_packed =
      sizeof(T) <= 2 && requires { requires std::is_same_v<typename X::element, T>; };
  static constexpr bool value = is_packed || is_cast_to<X, T>;
  static_assert(
      value, "store takes cast<T>(x), where T is the element type of the destination, also fp32");
};

// ---- one number
TK_DEVICE void put(float* p, float x) { *p = x; }
template <class T>
  requires(sizeof(T) <= 2)
TK_DEVICE void put(T* p, float x) {
  p->bits = static_cast<decltype(p->bits)>(be::pack(T{}, x, 0.f));
}

// ---- register tiles, global and shared memory
// For a tile at (row, col): line[r] is where this lane's r-th row begins, null below the tensor's
// last row; `left` is the number of the tensor's columns from this lane's first one on.
template <class Map, class T> struct lane_rows {
  T* line[Map::rows_per_lane];
  int left;
  TK_DEVICE lane_rows(tensor<T> const& x, int row, int col, int i, int j) {
    int const lane = be::worker_lane(), first = col + Map::lane_col(lane);
    int const top = row + Map::lane_row(lane), below = static_cast<int>(x.rows - top);
    left = static_cast<int>(x.cols - first);
    T* const corner = x.at(top, first, i, j);
    TK_UNROLL
    for (int s = 0; s < Map::rows_per_lane; ++s)
      line[s] = Map::row(s) < below ? corner + Map::row(s) * x.row_stride : nullptr;
  }
  // Whether the tensor has all of this lane's elements.
  TK_DEVICE bool are_whole() const {
    return line[Map::rows_per_lane - 1] && left > Map::col(Map::count - 1);
  }
};
template <class T> struct alignas(2 * sizeof(T)) two_of {
  T lo, hi;
};

// x to dst at (row, col).
template <class T, class X>
TK_DEVICE void store_direct(tensor<T> const& dst, int row, int col, int i, int j, X const& x,
                            int vector_width) {
  static_assert(can_store<T, X>::value);
  using map = be::fragment_map<X::rows, X::cols>;
  lane_rows<map, T> const to(dst, row, col, i, j);
  map::for_each([&](int e, int r, int) {
    if (e % 2 != 0) return;  // elements 2 i and 2 i + 1 are neighbours in a row
    int const c = map::col(e);
    if (!to.line[r] || c >= to.left) return;
    T* const p = to.line[r] + c;
    float const lo = x.value(e, r), hi = x.value(e + 1, r);
    if (vector_width >= 2 && c + 1 < to.left) {
      if constexpr (sizeof(T) <= 2)
        *reinterpret_cast<pair_of<T>*>(p) = static_cast<pair_of<T>>(be::pack(T{}, lo, hi));
      else *reinterpret_cast<two_of<T>*>(p) = {lo, hi};
      return;
    }
    put(p, lo);
    if (c + 1 < to.left) put(p + 1, hi);
  });
}

// dst = src transposed, element by element: right for every layout of a shared tile.
template <class T, int R, int C>
TK_DEVICE void load_transposed_plain(reg_tile<T, R, C>& dst, shared_tile<T, C, R> const& src) {
  using map = be::fragment_map<R, C>;
  int const lane = be::worker_lane(), row = map::lane_row(lane), col = map::lane_col(lane);
  auto const at = [&](int e, int r) {
    return *reinterpret_cast<T const*>(
        reinterpret_cast<char const*>(&src) +
        shared_tile<T, C, R>::offset(col + map::col(e), row + map::row(r)));
  };
  constexpr int bits = 8 * sizeof(T);
  map::for_each([&](int e, int r, int) {
    if constexpr (sizeof(T) == 4) dst.e[e] = at(e, r);
    else if (e % 2 == 0)
      dst.e[e / 2] =
          static_cast<pair_of<T>>(at(e, r).bits | std::uint32_t{at(e + 1, r).bits} << bits);
  });
}

// dst += scale * src at (row, col), where src is 0 outside its bounds. Loads under conditions would
// wait for one another; where a tile is whole, there are none.
template <int R, int C, class T>
TK_DEVICE void add_scaled(reg_tile<float, R, C>& dst, float scale, tensor<T const> const& src,
                          int vector_width, int row, int col, int i, int j) {
  using map = be::fragment_map<R, C>;
  lane_rows<map, T const> const from(src, row, col, i, j);
  auto const add = [&](auto whole) {
    map::for_each([&](int e, int r, int) {
      int const c = map::col(e);
      if (e % 2 != 0 || (!whole && (!from.line[r] || c >= from.left))) return;
      T const* const p = from.line[r] + c;
      two_of<T> x;
      if (whole || (vector_width >= 2 && c + 1 < from.left))
        x = *reinterpret_cast<two_of<T> const*>(p);
      else x = {*p, c + 1 < from.left ? p[1] : T{}};
      dst.e[e] += scale * be::widen(x.lo);
      dst.e[e + 1] += scale * be::widen(x.hi);
    });
  };
  if (vector_width >= 2 && from.are_whole()) add(std::true_type{});
  else add(std::false_type{});
}

// The same from src transposed: element (r, c) from (row + c, col + r).
template <int R, int C, class T>
TK_DEVICE void add_scaled_transposed(reg_tile<float, R, C>& dst, float scale,
                                     tensor<T const> const& src, int row, int col, int i, int j) {
  using map = be::fragment_map<R, C>;
  int const lane = be::worker_lane();
  int const first_row = row + map::lane_col(lane), first_col = col + map::lane_row(lane);
  int const rows = static_cast<int>(src.rows) - first_row,
            cols = static_cast<int>(src.cols) - first_col;
  T const* const corner = src.at(first_row, first_col, i, j);
  map::for_each([&](int e, int r, int) {
    if (map::col(e) < rows && map::row(r) < cols)
      dst.e[e] += scale * be::widen(corner[map::col(e) * src.row_stride + map::row(r)]);
  });
}

// x transposed to dst: element (r, c) to (row + c, col + r), where that is inside.
template <class T, int R, int C>
TK_DEVICE void store_transposed(tensor<T> const& dst, int row, int col, int i, int j,
                                reg_tile<float, R, C> const& x) {
  using map = be::fragment_map<R, C>;
  int const lane = be::worker_lane();
  int const first_row = row + map::lane_col(lane), first_col = col + map::lane_row(lane);
  int const rows = static_cast<int>(dst.rows) - first_row,
            cols = static_cast<int>(dst.cols) - first_col;
  T* const corner = dst.at(first_row, first_col, i, j);
  map::for_each([&](int e, int r, int) {
    if (map::col(e) < rows && map::row(r) < cols)
      put(corner + map::col(e) * dst.row_stride + map::row(r), x.e[e]);
  });
}

// One value per row, to dst[row]; rows from `left` on are not written.
template <class T, int R> TK_DEVICE void store(T* dst, reg_col<float, R> const& x, int left) {
  using map = be::fragment_map<R, 16>;
  int const lane = be::worker_lane(), row = map::lane_row(lane);
  if (map::lane_col(lane) != 0) return;  // the first lane of each row
  TK_UNROLL
  for (int i = 0; i < be::column_map<R>::count; ++i)
    if (map::row(i) < left - row) put(dst + row + map::row(i), x.e[i]);
}
// One value per column, for tiles of R rows; columns from `left` on are 0.
template <int R, int C, class T> TK_DEVICE loaded_row<T, R, C> load_row(T const* src, int left) {
  using map = be::fragment_map<R, C>;
  int const col = map::lane_col(be::worker_lane());
  loaded_row<T, R, C> x;
  TK_UNROLL
  for (int k = 0; k < x.count; ++k) {
    int const c = map::col(map::element(0, k));
    x.e[k] = c < left - col ? src[col + c] : T{};
  }
  return x;
}
// One value per row; rows from `left` on are `fill`.
template <int R, class T> TK_DEVICE reg_col<float, R> load_col(T const* src, int left, float fill) {
  using map = be::fragment_map<R, 16>;
  int const row = map::lane_row(be::worker_lane());
  reg_col<float, R> x;
  TK_UNROLL
  for (int i = 0; i < be::column_map<R>::count; ++i)
    x.e[i] = map::row(i) < left - row ? be::widen(src[row + map::row(i)]) : fill;
  return x;
}

}  // namespace tk
