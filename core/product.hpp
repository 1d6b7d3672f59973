// SPDX-License-Identifier: MIT
// Products of tiles, one spelling for every chip.
//   mm_ab   d[m, n] = a[m, k] b[k, n]        mm_abt   d = a[m, k] b[n, k]^T
//   mm_atb  d = a[k, m]^T b[k, n]            mm_atbt  d = a[k, m]^T b[n, k]^T
// mma_* adds to d. a is a shared tile, or (ab, abt) a packed register tile; b is a shared tile.
// Sums are fp32. Each call is one group and returns at once where the chip has asynchronous
// products: until a wait that names them, d may not be touched nor a register operand assigned.
// wait<n>(x, ...) waits until at most n later products run and hands the tiles it names back to
// ordinary code.
#pragma once
#include "core/tile.hpp"

namespace tk {

#define TK_PRODUCT(FORM)                                                        \
  template <int R, int N, class A, class B>                                     \
  TK_DEVICE void mm_##FORM(reg_tile<float, R, N>& d, A const& a, B const& b) {  \
    be::product_##FORM<false>(d, a, b);                                         \
  }                                                                             \
  template <int R, int N, class A, class B>                                     \
  TK_DEVICE void mma_##FORM(reg_tile<float, R, N>& d, A const& a, B const& b) { \
    be::product_##FORM<true>(d, a, b);                                          \
  }                                                                             \
  template <int R, int N, class A, class B>                                     \
    requires(!std::is_lvalue_reference_v<A>)                                    \
  void mm_##FORM(reg_tile<float, R, N>& d, A&& temporary, B const& b) = delete; \
  template <int R, int N, class A, class B>                                     \
    requires(!std::is_lvalue_reference_v<A>)                                    \
  void mma_##FORM(reg_tile<float, R, N>& d, A&& temporary, B const& b) = delete;
TK_PRODUCT(ab)
TK_PRODUCT(abt)
TK_PRODUCT(atb)
TK_PRODUCT(atbt)
#undef TK_PRODUCT

template <int Running, class... X> TK_DEVICE void wait(X&... x) {
  be::await_products<Running>();
  (be::hand_back(x), ...);
}

}  // namespace tk
