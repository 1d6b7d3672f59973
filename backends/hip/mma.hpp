// SPDX-License-Identifier: MIT
// Products. mm_* writes dst, mma_* adds to it; A is [m, k] (at: [k, m]), B is [k, n] (bt: [n, k]).
// The compiler waits for MFMA where a result is used. The k of a step are dealt to the lanes in
// runs of Run = 4 or 8, of fours that are Gap apart, the same for both operands; the sum does not
// mind. Gap is 4 (lane l has those from Run (l / L) on) unless the left operand is an accumulator
// whose lanes hold fours. Where the other dimension is the contiguous one, LDS is read by
// transposing reads; on chips that have none, two neighbouring blocks of L are interleaved, so that
// a lane reads whole words and finds an element of either block in each. fp8 is widened to fp16
// where it is read: what MFMA takes for fp8 is another format before gfx950.
#pragma once
#include "backends/hip/copy.hpp"
#include "core/fp8.hpp"

namespace tk::be {

// One lane's part of an operand in one step: Run k of one row of A or column of B, for `products`
// MFMA.
template <int Run, int Gap> struct k_run {
  static constexpr int run = Run, gap = Gap, each = Run < mfma_run ? Run : mfma_run;
  static constexpr int products = Run / each;
  std::uint32_t w[Run / 2];
  // The i-th k, counted from the first.
  static constexpr int k(int i) { return i / 4 * Gap + i % 4; }
  // What the h-th MFMA takes.
  TK_DEVICE gcn::halves<each> operand(int h) const {
    gcn::halves<each> y;
    TK_UNROLL
    for (int i = 0; i < each / 2; ++i) y.w[i] = w[h * each / 2 + i];
    return y;
  }
};

// Row `row` of a tile whose contiguous dimension is k.
template <class Part, class Tile> TK_DEVICE Part read_along(Tile const& x, int row, int k) {
  constexpr int at_once = Part::gap == 4 ? Part::run : 4;
  Part y;
  TK_UNROLL
  for (int i = 0; i < Part::run; i += at_once) {
    constexpr int words = at_once * Tile::size / 4;
    auto const z =
        *reinterpret_cast<word_run<words> const*>(bytes_of(x) + Tile::offset(row, k + Part::k(i)));
    TK_UNROLL
    for (int n = 0; n < words; ++n) {
      if constexpr (Tile::size == 2) {
        y.w[i / 2 + n] = z.w[n];
      } else {
        using type = typename Tile::element;
        y.w[i / 2 + 2 * n] = widen_pair<0>(type{}, z.w[n]);
        y.w[i / 2 + 2 * n + 1] = widen_pair<1>(type{}, z.w[n]);
      }
    }
  }
  return y;
}
// Columns `col` and `col` + 1 (even) of a tile whose rows are k.
template <class Part, class Tile>
TK_DEVICE void read_across(Tile const& x, int k, int col, Part& even, Part& odd) {
  std::uint32_t w[Part::run];
  TK_UNROLL
  for (int i = 0; i < Part::run; ++i)
    w[i] = *reinterpret_cast<std::uint32_t const*>(bytes_of(x) + Tile::offset(k + Part::k(i), col));
  TK_UNROLL
  for (int i = 0; i < Part::run; i += 2) {
    even.w[i / 2] = gcn::permute(w[i + 1], w[i], 0x05040100);
    odd.w[i / 2] = gcn::permute(w[i + 1], w[i], 0x07060302);
  }
}
// One column of it: column(lane) is that of any lane, and of four lanes in a row four columns in a
// row. Transposing, 16 lanes give the places of four columns of four k each (gcn::read_transposed).
template <class Part, class Tile, class Column>
TK_DEVICE Part read_across(Tile const& x, int k, Column column, int lane) {
  Part y;
  if constexpr (has_transposed_reads) {
    int const col = column((lane & ~15) | (lane & 3) << 2), row = k + (lane >> 2 & 3);
    TK_UNROLL
    for (int i = 0; i < Part::run; i += 4) {
      auto const z = gcn::read_transposed(bytes_of(x) + Tile::offset(row + Part::k(i), col));
      y.w[i / 2] = z.w[0], y.w[i / 2 + 1] = z.w[1];
    }
  } else {
    auto const at = [&](int i) {
      return std::uint32_t{*reinterpret_cast<std::uint16_t const*>(
          bytes_of(x) + Tile::offset(k + Part::k(i), column(lane)))};
    };
    TK_UNROLL
    for (int i = 0; i < Part::run; i += 2) y.w[i / 2] = at(i) | at(i + 1) << 16;
  }
  return y;
}

// Left operands of all slots of a lane's rows, k from `k` on; `k` counts this lane's run in.
template <class Map, bool Trans, class Part, class A>
TK_DEVICE void read_left(Part (&y)[Map::rows_per_lane], A const& a, int step, int k, int lane) {
  int const row = Map::lane_row(lane);
  TK_UNROLL
  for (int s = 0; s < Map::rows_per_lane; s += Trans ? Map::Q : 1) {
    if constexpr (!is_shared<A>) {
      TK_UNROLL
      for (int i = 0; i < Part::run / 2; ++i)
        y[s].w[i] = a.e[(s * A::map::per_row + step * Part::run) / 2 + i];
    } else if constexpr (!Trans) {
      y[s] = read_along<Part>(a, row + Map::row(s), k);
    } else if constexpr (Map::Q == 2) {
      read_across(a, k, row + Map::row(s), y[s], y[s + 1]);
    } else {
      y[s] = read_across<Part>(a, k, [&](int l) { return Map::lane_row(l) + Map::row(s); }, lane);
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

template <int L> struct block_sums;
template <> struct block_sums<16> {
  using type = gcn::sums16;
};
template <> struct block_sums<32> {
  using type = gcn::sums32;
};

// Elements 0, Stride, ... of d (those of one block, `Count` of which a lane has) become left right,
// added to them where `keep`.
template <class T, int L, int Stride, int Count, int Each>
TK_DEVICE void add_block(float* d, bool keep, gcn::halves<Each> left, gcn::halves<Each> right) {
  typename block_sums<L>::type sum{};
  if (keep) {
    TK_UNROLL
    for (int r = 0; r < Count; ++r) sum[r] = d[Stride * r];
  }
  sum = gcn::mfma(T{}, right, left, sum);
  TK_UNROLL
  for (int r = 0; r < Count; ++r) d[Stride * r] = sum[r];
}

// The columns from `first` on: two blocks, interleaved.
template <class T, class Map, bool Trans, class Part, class B>
TK_DEVICE void add_pair(float* d, bool keep, Part const (&left)[Map::rows_per_lane], B const& b,
                        int k, int first, int lane) {
  constexpr int L = Map::L, count = L * L / 64;
  Part right[2];
  int const col = first + right_column<Map, 2>(lane);
  if constexpr (Trans) {
    right[0] = read_along<Part>(b, col, k);
    right[1] = read_along<Part>(b, col + 1, k);
  } else {
    read_across(b, k, col, right[0], right[1]);
  }
  TK_UNROLL
  for (int h = 0; h < Part::products; ++h) TK_UNROLL
  for (int s = 0; s < Map::rows_per_lane; ++s) TK_UNROLL
  for (int odd = 0; odd < 2; ++odd)
    add_block<T, L, 2, count>(d + s * Map::per_row + first / Map::G + odd, keep || h > 0,
                              left[s].operand(h), right[odd].operand(h));
}
// One block; where only half of one is left, the other half repeats it and is dropped.
template <class T, class Map, bool Trans, int Cols, class Part, class B>
TK_DEVICE void add_single(float* d, bool keep, Part const (&left)[Map::rows_per_lane], B const& b,
                          int k, int first, int lane) {
  constexpr int L = Map::L, count = Cols / Map::G;
  auto const column = [=](int l) { return first + (right_column<Map, 1>(l) & (Cols - 1)); };
  Part right;
  if constexpr (Trans) right = read_along<Part>(b, column(lane), k);
  else right = read_across<Part>(b, k, column, lane);
  TK_UNROLL
  for (int h = 0; h < Part::products; ++h) TK_UNROLL
  for (int s = 0; s < Map::rows_per_lane; ++s)
    add_block<T, L, 1, count>(d + s * Map::per_row + first / Map::G, keep || h > 0,
                              left[s].operand(h), right.operand(h));
}

template <bool Keep, bool TransA, bool TransB, int R, int N, class A, class B>
TK_DEVICE void product(reg_tile<float, R, N>& d, A const& a, B const& b) {
  using T = std::conditional_t<sizeof(typename B::element) == 1, fp16, typename B::element>;
  using map = fragment_map<R, N>;
  constexpr int K = TransA ? A::rows : A::cols, L = map::L, G = map::G;
  constexpr bool fours = !is_shared<A> && map::W == 4;  // of an accumulator
  constexpr int Run = K % (8 * G) == 0 && (!fours || mfma_run == 8) ? 8 : 4;
  using part = k_run<Run, fours ? 4 * G : 4>;
  constexpr int pairs = !TransB && has_transposed_reads ? 0 : N / (2 * L) * 2 * L;
  int const lane = lane_of_tile<(R * N * K >= 64 * 64 * 64 || R * K >= 64 * 128)>();
  int const lane_k = (fours ? 4 : Run) * static_cast<int>(static_cast<unsigned>(lane) / L);
  TK_UNROLL
  for (int step = 0; step < K / (Run * G); ++step) {
    int const k = step * (Run * G) + lane_k;
    bool const keep = Keep || step > 0;
    part left[map::rows_per_lane];
    read_left<map, TransA>(left, a, step, k, lane);
    TK_UNROLL
    for (int n = 0; n < pairs; n += 2 * L) add_pair<T, map, TransB>(d.e, keep, left, b, k, n, lane);
    TK_UNROLL
    for (int n = pairs; n + L <= N; n += L)
      add_single<T, map, TransB, L>(d.e, keep, left, b, k, n, lane);
    if constexpr (N % L != 0) add_single<T, map, TransB, 16>(d.e, keep, left, b, k, N - 16, lane);
  }
}

template <class X> TK_DEVICE void take_over(X& p, X const& x) { p = x; }
template <class X> TK_DEVICE void hand_back(X&) {}
template <int Running> TK_DEVICE void await_products() {}

}  // namespace tk::be
