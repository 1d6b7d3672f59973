// SPDX-License-Identifier: MIT
// Products of tiles, one spelling for every chip.
//   mm_ab   d[m, n] = a[m, k] b[k, n]        mm_abt   d = a[m, k] b[n, k]^T
//   mm_atb  d = a[k, m]^T b[k, n]            mm_atbt  d = a[k, m]^T b[n, k]^T
// mma_* adds to d, mms_ab subtracts from it. a is a shared tile, or (ab, abt) a packed register
// tile, which that of mms_ab must be; b is a shared tile.
// Operands are both bf16, both fp16, or each one of the fp8 types: the latter for shared tiles in
// which k is contiguous (abt) alone, because few chips read 8-bit elements transposed, and none has
// accumulators in the layout of 8-bit operands. Sums are fp32; those of fp8 may lose bits far below
// the largest term. With fp16 operands d may be a packed tile of fp16, of 16 columns or a multiple
// of 32: then sums are rounded to fp16 by each call, or by each step of 16 of k. Each call is one
// group and returns at once where the chip has asynchronous products: until a wait that names them,
// d may not be touched nor a register operand assigned. wait<n>(x, ...) waits until at most n later
// products run and hands the tiles it names back to ordinary code.
#pragma once
#include "core/shared.hpp"

#include TK_BACKEND(mma.hpp)

namespace tk {

// What every product asks of its operands, said in words a user understands.
template <class A, class B, bool TransposedA, bool TransposedB> constexpr bool check_operands() {
  using a = typename A::element;
  using b = typename B::element;
  constexpr bool fp8 = sizeof(a) == 1 && sizeof(b) == 1, small = sizeof(a) <= 2 && sizeof(b) <= 2;
  constexpr bool types_fit = fp8 || std::is_same_v<a, b>;
  static_assert(is_shared<B>, "the right operand of a product is a shared tile");
  static_assert(is_shared<A> || !TransposedA, "a transposed left operand is a shared tile");
  static_assert(small, "the operands of a product are bf16, fp16 or fp8");
  static_assert(types_fit, "the operands of a product have one element type, or are both fp8");
  static_assert(!fp8 || (!TransposedA && TransposedB),
                "k is contiguous in both operands of an fp8 product: mm_abt, mma_abt");
  static_assert(!fp8 || is_shared<A>, "the left operand of an fp8 product is a shared tile");
  return is_shared<B> && (is_shared<A> || !(TransposedA || fp8)) && small && types_fit &&
         (!fp8 || (!TransposedA && TransposedB));
}
template <int R, int N, class A, class B, bool TransposedA, bool TransposedB>
inline constexpr bool shapes_fit =
    (TransposedA ? A::cols : A::rows) == R && (TransposedB ? B::rows : B::cols) == N &&
    (TransposedA ? A::rows : A::cols) == (TransposedB ? B::cols : B::rows);

// And of the tile for its sums, of type S.
template <class S, int N, class A, class B> constexpr bool check_sums() {
  constexpr bool fp32 = std::is_same_v<S, float>, fp16_sums = std::is_same_v<S, fp16>,
                 types_fit = fp32 || (fp16_sums && std::is_same_v<typename A::element, fp16> &&
                                      std::is_same_v<typename B::element, fp16>),
                 cols_fit = fp32 || N == 16 || N % 32 == 0;
  static_assert(N <= 256, "a product writes at most 256 columns");
  static_assert(types_fit, "sums of products are fp32, or fp16 where both operands are");
  static_assert(cols_fit, "a product writes 16 columns of fp16, or a multiple of 32");
  return N <= 256 && types_fit && cols_fit;
}
// A chip without sums of fp16 rounds those of a call once.
template <bool Keep, bool TransA, bool TransB, bool... Minus, class S, int R, int N, class A,
          class B>
TK_DEVICE void product_with_sums(reg_tile<S, R, N>& d, A const& a, B const& b) {
  if constexpr (std::is_same_v<S, float> || be::has_fp16_sums) {
    be::product<Keep, TransA, TransB, Minus...>(d, a, b);
  } else {
    reg_tile<float, R, N> sum;
    if constexpr (Keep) sum = d * 1.f;
    be::product<Keep, TransA, TransB, Minus...>(sum, a, b);
    d = cast<S>(sum);
  }
}

#define TK_PRODUCT_OF(NAME, FORM, KEEP, AT, BT, SHAPES)                               \
  template <class S, int R, int N, class A, class B>                                  \
  TK_DEVICE void NAME##_##FORM(reg_tile<S, R, N>& d, A const& a, B const& b) {        \
    constexpr bool good = check_operands<A, B, AT, BT>() && check_sums<S, N, A, B>(); \
    static_assert(shapes_fit<R, N, A, B, AT, BT>, "mm_" #FORM ": " SHAPES);           \
    if constexpr (good && shapes_fit<R, N, A, B, AT, BT>)                             \
      product_with_sums<KEEP, AT, BT>(d, a, b);                                       \
  }                                                                                   \
  template <class S, int R, int N, class A, class B>                                  \
    requires(!std::is_lvalue_reference_v<A>)                                          \
  void NAME##_##FORM(reg_tile<S, R, N>& d, A&& temporary, B const& b) = delete;
#define TK_PRODUCT(FORM, AT, BT, SHAPES)         \
  TK_PRODUCT_OF(mm, FORM, false, AT, BT, SHAPES) \
  TK_PRODUCT_OF(mma, FORM, true, AT, BT, SHAPES)
TK_PRODUCT(ab, false, false, "d is [m, n], a [m, k], b [k, n]")
TK_PRODUCT(abt, false, true, "d is [m, n], a [m, k], b [n, k]")
TK_PRODUCT(atb, true, false, "d is [m, n], a [k, m], b [k, n]")
TK_PRODUCT(atbt, true, true, "d is [m, n], a [k, m], b [n, k]")
#undef TK_PRODUCT
#undef TK_PRODUCT_OF

// -x
template <class T, int R, int C>
  requires(sizeof(T) == 2)
TK_DEVICE reg_tile<T, R, C> negative(reg_tile<T, R, C> const& x) {
  reg_tile<T, R, C> y;
  TK_UNROLL
  for (auto i = 0u; i < sizeof x.e / sizeof x.e[0]; ++i) y.e[i] = x.e[i] ^ 0x80008000;
  return y;
}
template <class S, int R, int N, class T, int K, class B>
TK_DEVICE void mms_ab(reg_tile<S, R, N>& d, reg_tile<T, R, K> const& a, B const& b) {
  using A = reg_tile<T, R, K>;
  constexpr bool good = check_operands<A, B, false, false>() && check_sums<S, N, A, B>(),
                 fit = shapes_fit<R, N, A, B, false, false>;
  static_assert(fit, "mms_ab: d is [m, n], a [m, k], b [k, n]");
  if constexpr (good && fit) {
    if constexpr (be::negates_operands) {
      product_with_sums<true, false, false, true>(d, a, b);
    } else {
      auto const y = negative(a);
      product_with_sums<true, false, false>(d, y, b);
    }
  }
}
template <class S, int R, int N, class T, int K, class B>
void mms_ab(reg_tile<S, R, N>& d, reg_tile<T, R, K>&& temporary, B const& b) = delete;

// store(dst, x), for products that follow the workers' meeting alone: all.arrive() and await()
// (core/block.hpp) make the tile theirs, one fence for whatever was stored before.
template <class T, int R, int C, class X>
  requires(!be::has_async_products)
TK_DEVICE void store_relaxed(shared_tile<T, R, C>& dst, X const& x) {
  store(dst, x);
}

// p = x, for a left operand p whose products are over; x may have been written while they ran.
template <class T, int R, int C>
TK_DEVICE void take_over(reg_tile<T, R, C>& p, reg_tile<T, R, C> const& x) {
  be::take_over(p, x);
}

template <int Running, class... X> TK_DEVICE void wait(X&... x) {
  be::await_products<Running>();
  (be::hand_back(x), ...);
}

}  // namespace tk
