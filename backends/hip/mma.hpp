// SPDX-License-Identifier: MIT
// Products. mm_* writes dst, mma_* adds to it; A is [m, k] (at: [k, m]), B is [k, n] (bt: [n, k]).
// The compiler waits for MFMA where a result is used. The k of a step are dealt to the lanes in
// runs of Run = 4 or 8 (those of lane l from Run (l / L) on), the same for both operands; the sum
// does not mind. Where the other dimension is the contiguous one, two neighbouring blocks of L are
// interleaved, so that a lane reads whole words and finds an element of either block in each.
#pragma once
#include "backends/hip/copy.hpp"

namespace tk::be {

template <class X> inline constexpr bool in_shared = false;
template <class T, int R, int C> inline constexpr bool in_shared<shared_tile<T, R, C>> = true;

// One lane's part of an operand in one step: Run k of one row of A or column of B.
template <int Run> struct k_run {
  gcn::four of[Run / 4];
};

// Row `row` of a tile whose contiguous dimension is k.
template <int Run, class Tile> TK_DEVICE k_run<Run> read_along(Tile const& x, int row, int k) {
  return std::bit_cast<k_run<Run>>(
      *reinterpret_cast<word_run<Run / 2> const*>(bytes_of(x) + Tile::offset(row, k)));
}
// Columns `col` and `col` + 1 (even) of a tile whose rows are k.
template <int Run, class Tile>
TK_DEVICE void read_across(Tile const& x, int k, int col, k_run<Run>& even, k_run<Run>& odd) {
  std::uint32_t w[Run];
  TK_UNROLL
  for (int i = 0; i < Run; ++i)
    w[i] = *reinterpret_cast<std::uint32_t const*>(bytes_of(x) + Tile::offset(k + i, col));
  TK_UNROLL
  for (int i = 0; i < Run; i += 2) {
    even.of[i / 4].w[i / 2 % 2] = gcn::permute(w[i + 1], w[i], 0x05040100);
    odd.of[i / 4].w[i / 2 % 2] = gcn::permute(w[i + 1], w[i], 0x07060302);
  }
}
// One column of it.
template <int Run, class Tile> TK_DEVICE k_run<Run> read_across(Tile const& x, int k, int col) {
  k_run<Run> y;
  auto const at = [&](int i) {
    return std::uint32_t{
        *reinterpret_cast<std::uint16_t const*>(bytes_of(x) + Tile::offset(k + i, col))};
  };
  TK_UNROLL
  for (int i = 0; i < Run; i += 2) y.of[i / 4].w[i / 2 % 2] = at(i) | at(i + 1) << 16;
  return y;
}

// Left operands of all slots of a lane's rows, k from `k` on; `k` counts this lane's run in.
template <class Map, bool Trans, int Run, class A>
TK_DEVICE void read_left(k_run<Run> (&y)[Map::slots], A const& a, int step, int k) {
  int const row = Map::lane_row(worker_lane());
  TK_UNROLL
  for (int s = 0; s < Map::slots; s += Trans ? Map::Q : 1) {
    if constexpr (!in_shared<A>) {
      TK_UNROLL
      for (int i = 0; i < Run / 2; ++i)
        y[s].of[i / 2].w[i % 2] = a.e[(s * A::map::per_slot + step * Run) / 2 + i];
    } else if constexpr (!Trans) {
      y[s] = read_along<Run>(a, row + Map::row(s), k);
    } else if constexpr (Map::Q == 2) {
      read_across(a, k, row + Map::row(s), y[s], y[s + 1]);
    } else {
      y[s] = read_across<Run>(a, k, row + Map::row(s));
    }
  }
}

// The column of B that MFMA's row l % L is, where element `r` of lane group g is to be column
// Map::col(Stride r + odd) + W g: row 4 G q + 4 g + s of MFMA is element 4 q + s of group g.
template <class Map, int Stride> TK_DEVICE int right_column(int lane) {
  constexpr int L = Map::L, G = Map::G, W = Map::W;
  unsigned const i = static_cast<unsigned>(lane) % L, g = i / 4 % G;
  unsigned const element = (i / (4 * G) * 4 + i % 4) * Stride;
  return static_cast<int>(element / W * 16 + element % W + W * g);
}

template <class T, int L> struct block_sums;
template <class T> struct block_sums<T, 16> {
  using type = gcn::sums16;
};
template <class T> struct block_sums<T, 32> {
  using type = gcn::sums32;
};

// Elements first, first + Stride, ... of d (those of one block, `Count` of which d has) += a b.
template <class T, int L, int Stride, int Count>
TK_DEVICE void add_block(float* d, bool keep, gcn::four left, gcn::four right) {
  typename block_sums<T, L>::type sum{};
  if (keep) {
    TK_UNROLL
    for (int r = 0; r < Count; ++r) sum[r] = d[Stride * r];
  }
  sum = gcn::mfma(T{}, right, left, sum);
  TK_UNROLL
  for (int r = 0; r < Count; ++r) d[Stride * r] = sum[r];
}

// The columns from `first` on: two blocks, interleaved.
template <class T, class Map, bool Trans, int Run, class B>
TK_DEVICE void add_pair(float* d, bool keep, k_run<Run> const (&left)[Map::slots], B const& b,
                        int k, int first) {
  constexpr int L = Map::L, count = L * L / 64;
  k_run<Run> right[2];
  int const col = first + right_column<Map, 2>(worker_lane());
  if constexpr (Trans) {
    right[0] = read_along<Run>(b, col, k);
    right[1] = read_along<Run>(b, col + 1, k);
  } else {
    read_across(b, k, col, right[0], right[1]);
  }
  TK_UNROLL
  for (int h = 0; h < Run / 4; ++h) TK_UNROLL
  for (int s = 0; s < Map::slots; ++s) TK_UNROLL
  for (int odd = 0; odd < 2; ++odd)
    add_block<T, L, 2, count>(d + s * Map::per_slot + first / Map::G + odd, keep || h > 0,
                              left[s].of[h], right[odd].of[h]);
}
// One block; where only half of one is left, the other half repeats it and is dropped.
template <class T, class Map, bool Trans, int Run, int Cols, class B>
TK_DEVICE void add_single(float* d, bool keep, k_run<Run> const (&left)[Map::slots], B const& b,
                          int k, int first) {
  constexpr int L = Map::L, count = Cols / Map::G;
  int const col = first + (right_column<Map, 1>(worker_lane()) & (Cols - 1));
  k_run<Run> right;
  if constexpr (Trans) right = read_along<Run>(b, col, k);
  else right = read_across<Run>(b, k, col);
  TK_UNROLL
  for (int h = 0; h < Run / 4; ++h) TK_UNROLL
  for (int s = 0; s < Map::slots; ++s)
    add_block<T, L, 1, count>(d + s * Map::per_slot + first / Map::G, keep || h > 0, left[s].of[h],
                              right.of[h]);
}

template <bool Keep, class T, int K, bool TransA, bool TransB, int R, int N, class A, class B>
TK_DEVICE void product(reg_tile<float, R, N>& d, A const& a, B const& b) {
  using map = fragment_map<R, N>;
  constexpr int L = map::L, G = map::G, pairs = N / (2 * L) * 2 * L;
  constexpr int Run = !in_shared<A> ? map::W : K % (8 * G) == 0 ? 8 : 4;
  int const lane_k = Run * static_cast<int>(static_cast<unsigned>(worker_lane()) / L);
  TK_UNROLL
  for (int step = 0; step < K / (Run * G); ++step) {
    int const k = step * (Run * G) + lane_k;
    bool const keep = Keep || step > 0;
    k_run<Run> left[map::slots];
    read_left<map, TransA>(left, a, step, k);
    TK_UNROLL
    for (int n = 0; n < pairs; n += 2 * L) add_pair<T, map, TransB>(d.e, keep, left, b, k, n);
    if constexpr (N - pairs >= L) add_single<T, map, TransB, Run, L>(d.e, keep, left, b, k, pairs);
    if constexpr ((N - pairs) % L != 0)
      add_single<T, map, TransB, Run, 16>(d.e, keep, left, b, k, N - 16);
  }
}

template <bool Keep, class T, int R, int N, int K, class A>
TK_DEVICE void product_ab(reg_tile<float, R, N>& d, A const& a, shared_tile<T, K, N> const& b) {
  static_assert(A::rows == R && A::cols == K, "mm_ab: a is [m, k] where b is [k, n]");
  product<Keep, T, K, false, false>(d, a, b);
}
template <bool Keep, class T, int R, int N, int K, class A>
TK_DEVICE void product_abt(reg_tile<float, R, N>& d, A const& a, shared_tile<T, N, K> const& b) {
  static_assert(A::rows == R && A::cols == K, "mm_abt: a is [m, k] where b is [n, k]");
  product<Keep, T, K, false, true>(d, a, b);
}
template <bool Keep, class T, int R, int N, int K>
TK_DEVICE void product_atb(reg_tile<float, R, N>& d, shared_tile<T, K, R> const& a,
                           shared_tile<T, K, N> const& b) {
  product<Keep, T, K, true, false>(d, a, b);
}
template <bool Keep, class T, int R, int N, int K>
TK_DEVICE void product_atbt(reg_tile<float, R, N>& d, shared_tile<T, K, R> const& a,
                            shared_tile<T, N, K> const& b) {
  product<Keep, T, K, true, true>(d, a, b);
}

template <class X> TK_DEVICE void hand_back(X&) {}
template <int Running> TK_DEVICE void await_products() {}

}  // namespace tk::be
