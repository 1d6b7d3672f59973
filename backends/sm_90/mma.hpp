// SPDX-License-Identifier: MIT
// Products. mm_* writes dst, mma_* adds to it, mms_* subtracts from it (Keep and Minus); A is [m,
// k] (at: [k, m]), B is [k, n] (bt: [n, k]). A product is issued and returns at once; it reads its
// operands and writes its tile until wait<n>() says that at most n later products are still
// running. wait<n>(x, ...) also hands the tiles x back to ordinary code: an element may be read or
// written only after a wait that names its tile. A 16-bit register tile is an operand of a product
// until a wait as well; do not assign to it before. A step of k is 32 bytes: 16 elements, or 32 of
// fp8, whose sums keep about 14 bits (DeepSeek V3, arXiv 2412.19437, 3.3.2).
#pragma once
#include "backends/sm_90/copy.hpp"
#include "backends/sm_90/timeline.hpp"

namespace tk {
namespace be {

// How wgmma walks a shared tile, in units of 16 bytes (PTX ISA, "Matrix descriptor format"): low
// word = leading offset : start address, high word = swizzle : stride offset, which is eight rows.
// In a cluster the upper bits of a shared address name the block and must go.
template <class Tile> struct descriptor {
  static constexpr int row_bytes = Tile::layout::row_bytes, panel = Tile::panel_bytes / 16;
  static constexpr std::uint32_t high = (row_bytes == 128  ? 1u
                                         : row_bytes == 64 ? 2u
                                                           : 3u)
                                            << 30 |
                                        8 * row_bytes / 16;
  static TK_DEVICE std::uint32_t low(Tile const& x, std::uint32_t leading) {
    return leading << 16 | (ptx::smem(&x) & 0x3ffff) >> 4;
  }
};
// k along the contiguous columns, 32 bytes a step; mn blocks of 64 rows.
template <class Tile> struct along_columns : descriptor<Tile> {
  static constexpr int transposed = 0, steps = along_columns::row_bytes / 32;
  static TK_DEVICE std::uint32_t start(Tile const& x) { return along_columns::low(x, 1); }
  static TK_BOTH constexpr int at(int block, int k) {
    return block * 64 * along_columns::row_bytes / 16 + k / steps * along_columns::panel +
           k % steps * 2;
  }
};
// k along the rows: a k step of 16 is 16 rows; mn blocks of 64 columns, panels the leading offset.
template <class Tile> struct along_rows : descriptor<Tile> {
  static constexpr int transposed = 1;
  static TK_DEVICE std::uint32_t start(Tile const& x) {
    return along_rows::low(x, along_rows::panel);
  }
  static TK_BOTH constexpr int at(int block, int k) {
    return block * 64 / Tile::panel_cols * along_rows::panel + k * along_rows::row_bytes;
  }
};

template <bool Keep, bool TransA, bool TransB, bool Minus = false, class S, int R, int N, class A,
          class B>
TK_DEVICE void product(reg_tile<S, R, N>& d, A const& a, B const& b) {
  using walk_a = std::conditional_t<TransA, along_rows<A>, along_columns<A>>;
  using walk_b = std::conditional_t<TransB, along_columns<B>, along_rows<B>>;
  using a_type = typename A::element;
  constexpr int K = TransA ? A::rows : A::cols;
  constexpr bool fp32 = std::is_same_v<S, float>;
  using mma =
      std::conditional_t<fp32, ptx::wgmma<a_type, typename B::element, N>, ptx::wgmma_fp16<N>>;
  constexpr int steps = K * static_cast<int>(sizeof(a_type)) / 32;
  note(event::product);
  ptx::wgmma_fence();
  std::uint32_t const right = walk_b::start(b);
  TK_UNROLL
  for (int block = 0; block < R / 64; ++block) TK_UNROLL
  for (int k = 0; k < steps; ++k) {
    auto* const out = d.e + block * (fp32 ? N / 2 : N / 4);
    if constexpr (is_shared<A>)
      mma::template ss<walk_a::transposed, walk_b::transposed, walk_a::high, walk_b::high>(
          out, walk_a::start(a) + walk_a::at(block, k), right + walk_b::at(0, k), Keep || k > 0);
    else if constexpr (Minus)
      mma::template rs_minus<walk_b::transposed, walk_b::high>(
          out, a.e + (block * steps + k) * 4, right + walk_b::at(0, k), Keep || k > 0);
    else
      mma::template rs<walk_b::transposed, walk_b::high>(out, a.e + (block * steps + k) * 4,
                                                         right + walk_b::at(0, k), Keep || k > 0);
  }
  ptx::wgmma_commit();
  note(event::issued);
}

template <class X> TK_DEVICE void hand_back(X& x) {
  if constexpr (sizeof(x.e[0]) == 4) {  // pairs of fp8 are no operands
    TK_UNROLL
    for (auto& e : x.e) ptx::touch(e);
  }
}
// A copy that is not elided: ptxas would let the next product read x's own registers, find them
// written while this one ran, and let no two products run at once (C7513).
template <class T, int R, int C>
TK_DEVICE void take_over(reg_tile<T, R, C>& p, reg_tile<T, R, C> const& x) {
  std::uint32_t const zero = ptx::opaque_zero();
  TK_UNROLL
  for (int i = 0; i < reg_tile<T, R, C>::map::count / 2; ++i) p.e[i] = x.e[i] ^ zero;
}
template <int Running> TK_DEVICE void await_products() {
  note(event::wait);
  ptx::wgmma_wait<Running>();
  note(event::waited);
}

}  // namespace be
}  // namespace tk
