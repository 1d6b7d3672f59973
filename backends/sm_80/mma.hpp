// SPDX-License-Identifier: MIT
// Products. mm_* writes dst, mma_* adds to it; A is [m, k] (at: [k, m]), B is [k, n] (bt: [n, k]).
// A warp has 16 rows of every 64 and all columns, so that a fragment of B serves R / 64
// instructions on either side of it: tall tiles need less of shared memory's bandwidth
// (core/accumulate.hpp). Fragments of A are loaded a step of k ahead. ptxas moves the loads up
// further, as far as registers go; asked for more, it spills. A step is 32 bytes of k: 16 elements,
// or 32 of fp8, which lie as pairs would in a tile of half as many columns. Where the instructions
// don't take fp8, fragments are widened to two of fp16.
#pragma once
#include "backends/sm_80/copy.hpp"
#include "core/fp8.hpp"

namespace tk::be {

// A lane's address for ldmatrix in the blocks of a tile, each 16 rows of 32 bytes. The swizzle
// repeats every eight rows, and a block begins at an even chunk, so that blocks differ by
// constants.
template <class Tile> struct blocks_of {
  using layout = typename Tile::layout;
  std::uint32_t first;  // in the block at (0, 0)
  TK_DEVICE blocks_of(Tile const& x, int row, int chunk)
      : first(ptx::smem(&x) + static_cast<std::uint32_t>(row * layout::row_bytes +
                                                         layout::chunk(row, chunk) * 16)) {}
  TK_DEVICE std::uint32_t at(int row, int col) const {
    int const chunk = col % Tile::panel_cols * Tile::size / 16;
    return (first ^ static_cast<std::uint32_t>(chunk << 4)) +
           static_cast<std::uint32_t>(col / Tile::panel_cols * Tile::panel_bytes +
                                      row * layout::row_bytes);
  }
};

// The lanes' rows and chunks in a block: matrices 0 to 3 lie below one another first, or beside.
struct below_first {
  static TK_DEVICE int row(int lane) { return lane & 15; }
  static TK_DEVICE int chunk(int lane) { return lane >> 4; }
};
struct beside_first {
  static TK_DEVICE int row(int lane) { return (lane & 7) + (lane >> 4) * 8; }
  static TK_DEVICE int chunk(int lane) { return lane >> 3 & 1; }
};

struct fragment {
  std::uint32_t r[4];
};
template <class T> inline constexpr int step_k = 32 / static_cast<int>(sizeof(T));
template <bool Transposed> TK_DEVICE fragment load_fragment(std::uint32_t src) {
  fragment x;
  if constexpr (Transposed) ptx::ldmatrix_transposed(src, x.r[0], x.r[1], x.r[2], x.r[3]);
  else ptx::ldmatrix(src, x.r[0], x.r[1], x.r[2], x.r[3]);
  return x;
}

// The left operand: fragment (block of 64 rows, step of k) of this warp.
template <bool Trans, class A> struct left_operand {  // in shared memory
  blocks_of<A> blocks;
  TK_DEVICE explicit left_operand(A const& a) : blocks(start(a)) {}
  TK_DEVICE fragment load(int block, int k, std::uint32_t slot = 0) const {
    constexpr int each = step_k<typename A::element>;
    return load_fragment<Trans>(
        (Trans ? blocks.at(each * k, 64 * block) : blocks.at(64 * block, each * k)) + slot);
  }

 private:
  static TK_DEVICE blocks_of<A> start(A const& a) {
    int const lane = worker_lane() % warp_lanes, warp = worker_lane() / warp_lanes;
    if constexpr (Trans) return {a, beside_first::row(lane), beside_first::chunk(lane) + 2 * warp};
    else return {a, below_first::row(lane) + 16 * warp, below_first::chunk(lane)};
  }
};
template <class T, int R, int K> struct left_operand<false, reg_tile<T, R, K>> {  // in registers
  reg_tile<T, R, K> const& a;
  TK_DEVICE explicit left_operand(reg_tile<T, R, K> const& a) : a(a) {}
  TK_DEVICE fragment load(int block, int k) const {
    auto const* const e = a.e + (block * (K / 16) + k) * 4;
    return {{e[0], e[1], e[2], e[3]}};
  }
};
// The right operand: a step of k by 16 columns, which is two instructions' worth.
template <bool Trans, class B> struct right_operand {
  using order = std::conditional_t<Trans, beside_first, below_first>;
  blocks_of<B> blocks;
  TK_DEVICE explicit right_operand(B const& b)
      : blocks(b, order::row(worker_lane() % warp_lanes),
               order::chunk(worker_lane() % warp_lanes)) {}
  TK_DEVICE fragment load(int k, int n, std::uint32_t slot = 0) const {
    constexpr int each = step_k<typename B::element>;
    return load_fragment<!Trans>(
        (Trans ? blocks.at(16 * n, each * k) : blocks.at(each * k, 16 * n)) + slot);
  }
};

// d[16, 8] (+)= a b over a step of k; A and B are element types. Words of fp8 hold twice as many k
// as those of fp16, which the widened ones take in another order, both operands in the same.
template <class A, class B>
TK_DEVICE void multiply(float* d, fragment const& a, std::uint32_t b0, std::uint32_t b1,
                        bool keep) {
  if constexpr (sizeof(A) == 2 || has_fp8) {
    ptx::mma(A{}, B{}, d, a.r, b0, b1, keep);
  } else {
    TK_UNROLL
    for (int i = 0; i < 2; ++i) {
      std::uint32_t const above = a.r[2 * i], below = a.r[2 * i + 1], right = i == 0 ? b0 : b1;
      std::uint32_t const left[] = {widen_pair<0>(A{}, above), widen_pair<0>(A{}, below),
                                    widen_pair<1>(A{}, above), widen_pair<1>(A{}, below)};
      ptx::mma(fp16{}, fp16{}, d, left, widen_pair<0>(B{}, right), widen_pair<1>(B{}, right),
               keep || i > 0);
    }
  }
}

template <bool Keep, bool TransA, bool TransB, int R, int N, class A, class B>
TK_DEVICE void product(reg_tile<float, R, N>& d, A const& a, B const& b) {
  using a_type = typename A::element;
  using b_type = typename B::element;
  constexpr int blocks = R / 64, steps = (TransA ? A::rows : A::cols) / step_k<a_type>;
  left_operand<TransA, A> const left(a);
  right_operand<TransB, B> const right(b);
  fragment x[2][blocks];
  auto const load_left = [&](int k) {
    TK_UNROLL
    for (int block = 0; block < blocks; ++block) x[k % 2][block] = left.load(block, k);
  };
  load_left(0);
  TK_UNROLL
  for (int k = 0; k < steps; ++k) TK_UNROLL
  for (int n = 0; n < N / 16; ++n) {
    fragment const y = right.load(k, n);
    if (n == 0 && k + 1 < steps) load_left(k + 1);
    TK_UNROLL
    for (int block = 0; block < blocks; ++block) TK_UNROLL
    for (int half = 0; half < 2; ++half)
      multiply<a_type, b_type>(d.e + block * (N / 2) + n * 8 + half * 4, x[k % 2][block],
                               y.r[2 * half], y.r[2 * half + 1], Keep || k > 0);
  }
}

template <class X> TK_DEVICE void take_over(X& p, X const& x) { p = x; }
template <class X> TK_DEVICE void hand_back(X&) {}
template <int Running> TK_DEVICE void await_products() {}

}  // namespace tk::be
