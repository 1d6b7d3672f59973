// SPDX-License-Identifier: MIT
// Flat tiles: R < 16 long rows, each spread over all lanes of a worker (core/flat_map.hpp).
//   load(x, tensor, granule, row, col)      from global memory; what lies outside is zero
//   load(x, vectors)                        from shared memory, one vector per row
//   store(tensor, granule, row, col, cast)  to global memory, clipped
//   row_sum(w, x, parts), total(w, share, parts)
// The reductions cross all lanes of the worker: all of them call, parts may be used again at once,
// every lane gets the same sums, and their order is that of the layout: equal bits every time.
#pragma once
#include "core/move.hpp"
#include "core/reduce.hpp"
#include "core/vector.hpp"

namespace tk {

// ---- reductions
// What the warps of a worker leave for one another.
template <int R, int Warps = be::worker_warps> struct row_parts {
  float of[R][Warps];
};
template <int R> struct row_parts<R, 1> {};

// Lanes that all have the same columns, as across_cols asks.
struct whole_warp {
  static constexpr int lane_col(int) { return 0; }
};

template <class Worker, int R>
TK_DEVICE reg_col<float, R> total(Worker const& w, reg_col<float, R> x,
                                  [[maybe_unused]] row_parts<R>& parts) {
  static_assert(is_flat<R>, "rows of other tiles are reduced by row_sum(x)");
  if constexpr (be::worker_warps == 1) {
    TK_UNROLL
    for (int bit = 1; bit < be::warp_lanes; bit *= 2) TK_UNROLL
    for (int r = 0; r < R; ++r) x.e[r] += be::shuffle_xor(x.e[r], bit);
  } else {
    int const warp = be::worker_lane() / be::warp_lanes;
    across_cols<whole_warp, plus, 1, R>(x.e, 0, true,
                                        [&](int r, float v) { parts.of[r][warp] = v; });
    w.sync();
    TK_UNROLL
    for (int r = 0; r < R; ++r) {
      x.e[r] = parts.of[r][0];
      TK_UNROLL
      for (int k = 1; k < be::worker_warps; ++k) x.e[r] += parts.of[r][k];
    }
    w.sync();
  }
  return x;
}
template <class Worker, held X, int R>
TK_DEVICE reg_col<float, R> row_sum(Worker const& w, X&& x, row_parts<R>& parts) {
  return total(w, row_share<plus, std::remove_cvref_t<X>>(x, 0.f), parts);
}

// ---- movement, by runs of neighbours
// body(first element, row, col - the lane's first col) for each run of a lane.
template <int R, int C, class Body> TK_DEVICE void for_each_flat_run(Body body) {
  using map = be::fragment_map<R, C>;
  static_assert(is_flat<R>, "a flat tile has less than 16 rows");
  TK_UNROLL
  for (int i = 0; i < map::count; i += map::run) body(i, map::slot(i), map::col(i));
}
// Of each row, where this lane begins, and how many columns of the tensor are left from there. Rows
// below the last have none; that a bound depends on its row keeps it from being computed, for every
// column, ahead of a loop over rows.
template <class T, int R, int C> struct flat_lines {
  T* line[R];
  int left[R];
  TK_DEVICE flat_lines(tensor<T> const& x, int row, int col) {
    int const first = col + be::fragment_map<R, C>::lane_col(be::worker_lane());
    TK_UNROLL
    for (int r = 0; r < R; ++r) {
      line[r] = x.at(row + r, first);
      left[r] = row + r < x.rows ? static_cast<int>(x.cols) - first : 0;
    }
  }
};
// Elements that move at once: 16 bytes.
template <class T> inline constexpr int chunk_of = 16 / static_cast<int>(sizeof(T));
// Whether every chunk of a row is inside or outside the tensor as a whole, and can move as one.
template <class T> TK_DEVICE bool in_chunks(tensor<T> const& x, int granule) {
  return granule == chunk_of<T> && x.cols % chunk_of<T> == 0;
}
template <class T> TK_DEVICE std::uint32_t bits_of_element(T x) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(x);
  else return x.bits;
}
// Puts four words at elements i and up of a tile.
template <class T, int R, int C>
TK_DEVICE void set_chunk(reg_tile<T, R, C>& x, int i, std::uint32_t const* words) {
  TK_UNROLL
  for (int k = 0; k < 4; ++k) {
    if constexpr (sizeof(T) == 4) x.e[i + k] = std::bit_cast<float>(words[k]);
    else x.e[i / 2 + k] = words[k];
  }
}

template <class T, int R, int C>
TK_DEVICE void load(reg_tile<T, R, C>& dst, tensor<T const> const& src, int granule, int row,
                    int col) {
  constexpr int n = chunk_of<T>, per_word = n / 4;
  bool const whole = in_chunks(src, granule);
  flat_lines<T const, R, C> const from(src, row, col);
  for_each_flat_run<R, C>([&](int first, int r, int c) {
    TK_UNROLL
    for (int k = c; k < c + be::fragment_map<R, C>::run; k += n) {
      std::uint32_t words[4] = {};
      T const* const p = from.line[r] + k;
      if (whole) {
        if (k < from.left[r]) read_words<4>(words, p);
      } else {
        TK_UNROLL
        for (int e = 0; e < n; ++e)
          if (k + e < from.left[r])
            words[e / per_word] |= bits_of_element(p[e]) << e % per_word * 16;
      }
      set_chunk(dst, first + k - c, words);
    }
  });
}
template <class T, int R, int C>
TK_DEVICE void load(reg_tile<T, R, C>& dst, shared_vec<T, C> const (&src)[R]) {
  int const lane = be::fragment_map<R, C>::lane_col(be::worker_lane());
  for_each_flat_run<R, C>([&](int first, int r, int c) {
    TK_UNROLL
    for (int k = 0; k < be::fragment_map<R, C>::run; k += chunk_of<T>) {
      std::uint32_t words[4];
      read_words<4>(words, src[r].data + lane + c + k);
      set_chunk(dst, first + k, words);
    }
  });
}

// x is a cast.
template <class T, class X>
TK_DEVICE void store(tensor<T> const& dst, int granule, int row, int col, X const& x) {
  constexpr int n = chunk_of<T>;
  using map = be::fragment_map<X::rows, X::cols>;
  bool const whole = in_chunks(dst, granule);
  flat_lines<T, X::rows, X::cols> const to(dst, row, col);
  for_each_flat_run<X::rows, X::cols>([&](int first, int r, int c) {
    TK_UNROLL
    for (int k = c; k < c + map::run; k += n) {
      T* const p = to.line[r] + k;
      int const i = first + k - c;
      if (whole) {
        chunk16 y;
        TK_UNROLL
        for (int e = 0; e < 4; ++e) {
          if constexpr (sizeof(T) == 4) y.w[e] = std::bit_cast<std::uint32_t>(x.value(i + e, r));
          else y.w[e] = x.word(i / 2 + e, r);
        }
        if (k < to.left[r]) *reinterpret_cast<chunk16*>(p) = y;
      } else {
        TK_UNROLL
        for (int e = 0; e < n; ++e)
          if (k + e < to.left[r]) put(p + e, x.value(i + e, r));
      }
    }
  });
}

}  // namespace tk
