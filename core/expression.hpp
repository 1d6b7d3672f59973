// SPDX-License-Identifier: MIT
// Element-wise expressions over tiles, columns, rows and numbers.
// Column arithmetic is computed at once (a few registers); tile arithmetic is lazy, and is
// evaluated in one pass over the registers where it is assigned, reduced, cast or stored. A lazy
// expression cannot be kept: assignment and operators take it only as a temporary, so it never
// outlives what it refers to; anything else does not compile. Arithmetic is fp32.
#pragma once
#include "core/tensor.hpp"
#include "core/tile.hpp"

namespace tk {

// ---- rows: they meet tiles only
// A row of values, one per column, in shared or global memory, read where it is used; columns from
// `left` on are 0.
template <class T, int C> struct row_of {
  T const* x;
  int left;
};
template <class X> inline constexpr bool is_row = false;
template <class T, int C> inline constexpr bool is_row<row_of<T, C>> = true;
template <class T, int R, int C> inline constexpr bool is_row<reg_row<T, R, C>> = true;
template <class T, int R, int C> inline constexpr bool is_row<loaded_row<T, R, C>> = true;

// The coordinates of a tile's elements as numbers, base + Row row + Col col, exact up to 2^24: what
// depends on the lane is computed once, the rest is a constant of each register.
template <int Row, int Col> struct coordinates {
  int base;
};
template <int Row, int Col> inline constexpr bool is_row<coordinates<Row, Col>> = true;
TK_DEVICE coordinates<1, 0> rows(int base) { return {base}; }
TK_DEVICE coordinates<0, 1> cols(int base) { return {base}; }
TK_DEVICE coordinates<-1, 1> diagonals(int base) { return {base}; }  // base + col - row

// ---- how an expression holds an operand
struct nothing {
  static constexpr int rows = 1, cols = 1;
};
template <class F, class A, class B = nothing> struct lazy;

template <class X> struct operand {  // a number
  static constexpr int rows = 1, cols = 1;
  float x;
  template <class Map> TK_DEVICE float element(int, int) const { return x; }
};
template <int R> struct operand<reg_col<float, R>> {
  static constexpr int rows = R, cols = 1;
  reg_col<float, R> x;
  template <class Map> TK_DEVICE float element(int, int r) const {
    if constexpr (requires { Map::rows_per_lane; })
      static_assert(Map::rows_per_lane == be::column_map<R>::count, "operands differ in rows");
    return x.e[r];
  }
};
template <> inline constexpr bool has_halves<operand<float>> = true;
template <> inline constexpr bool has_halves<nothing> = true;
template <int R> inline constexpr bool has_halves<operand<reg_col<float, R>>> = true;
template <class F, class A, class B>
inline constexpr bool has_halves<operand<lazy<F, A, B>>> = has_halves<A> && has_halves<B>;
template <int R, int C> struct operand<reg_tile<float, R, C>> {
  static constexpr int rows = R, cols = C;
  reg_tile<float, R, C> const& x;
  template <class Map> TK_DEVICE float element(int i, int) const { return x.e[i]; }
};
template <class T, int R, int C> struct operand<reg_tile<T, R, C>> {
  static constexpr int rows = R, cols = C;
  reg_tile<T, R, C> const& x;
  template <class Map> TK_DEVICE float element(int i, int) const { return x.value(i); }
};
template <template <class, int, int> class Row, class T, int R, int C>
  requires is_row<Row<T, R, C>>
struct operand<Row<T, R, C>> {
  static constexpr int rows = 1, cols = C;
  Row<T, R, C> const& x;
  template <class Map> TK_DEVICE float element(int i, int) const {
    static_assert(Map::rows == R, "a row meets tiles of as many rows as it was made for");
    return x.value(Map::nth(i));
  }
};
template <class F, class A, class B> struct operand<lazy<F, A, B>> {
  static constexpr int rows = lazy<F, A, B>::rows, cols = lazy<F, A, B>::cols;
  lazy<F, A, B> x;
  template <class Map> TK_DEVICE float element(int i, int r) const {
    return x.template element<Map>(i, r);
  }
};

template <class T, int C> struct operand<row_of<T, C>> {
  static constexpr int rows = 1, cols = C;
  row_of<T, C> x;
  template <class Map> TK_DEVICE float element(int i, int) const {
    int const col = Map::lane_col(be::worker_lane()) + Map::col(i);
    return col < x.left ? be::widen(x.x[col]) : 0.f;
  }
};

template <int Row, int Col> struct operand<coordinates<Row, Col>> {
  static constexpr int rows = 1, cols = 1;
  coordinates<Row, Col> x;
  template <class Map> TK_DEVICE float element(int i, int r) const {
    int const lane = be::worker_lane();
    int const of_lane = x.base + Row * Map::lane_row(lane) + Col * Map::lane_col(lane);
    return static_cast<float>(of_lane) + static_cast<float>(Row * Map::row(r) + Col * Map::col(i));
  }
};

template <class F, class A, class B> struct lazy {
  static_assert(A::rows == B::rows || A::rows == 1 || B::rows == 1, "operands differ in rows");
  static_assert(A::cols == B::cols || A::cols == 1 || B::cols == 1, "operands differ in columns");
  static constexpr int rows = A::rows > B::rows ? A::rows : B::rows;
  static constexpr int cols = A::cols > B::cols ? A::cols : B::cols;
  A a;
  [[no_unique_address]] B b;
  template <class Map> TK_DEVICE float element(int i, int r) const {
    if constexpr (std::is_same_v<B, nothing>) return F{}(a.template element<Map>(i, r));
    else return F{}(a.template element<Map>(i, r), b.template element<Map>(i, r));
  }
};

// ---- what may meet what
template <class F, class A, class B> inline constexpr bool is_lazy<lazy<F, A, B>> = true;
template <class X> inline constexpr bool is_tile = is_lazy<X>;
template <class T, int R, int C> inline constexpr bool is_tile<reg_tile<T, R, C>> = true;
template <class X> inline constexpr bool is_col = false;
template <int R> inline constexpr bool is_col<reg_col<float, R>> = true;

// What operations take: tiles, rows, columns, and lazy expressions of them where they are written.
template <class X, class D = std::remove_cvref_t<X>>
concept tile_expression = (is_col<D> || is_row<D> || is_tile<D>) && used_where_written<X>::value;

template <class F, class A, class B> TK_DEVICE auto combine(A const& a, B const& b) {
  using x = operand<A>;
  using y = operand<B>;
  lazy<F, x, y> e{{a}, {b}};
  if constexpr (is_tile<A> || is_tile<B> || is_row<A> || is_row<B>) return e;
  else return reg_col<float, lazy<F, x, y>::rows>(e);
}

// Numbers come by value: a reference to a static constexpr member does not exist on a device.
#define TK_BINARY(NAME, FUNCTOR, RESULT)                                              \
  struct FUNCTOR {                                                                    \
    TK_DEVICE float operator()(float a, float b) const { return RESULT; }             \
  };                                                                                  \
  template <tile_expression A, tile_expression B> TK_DEVICE auto NAME(A&& a, B&& b) { \
    return combine<FUNCTOR, std::remove_cvref_t<A>, std::remove_cvref_t<B>>(a, b);    \
  }                                                                                   \
  template <tile_expression A> TK_DEVICE auto NAME(A&& a, float b) {                  \
    return combine<FUNCTOR, std::remove_cvref_t<A>, float>(a, b);                     \
  }                                                                                   \
  template <tile_expression B> TK_DEVICE auto NAME(float a, B&& b) {                  \
    return combine<FUNCTOR, float, std::remove_cvref_t<B>>(a, b);                     \
  }
TK_BINARY(operator+, plus, a + b)
TK_BINARY(operator-, minus, a - b)
TK_BINARY(operator*, times, a* b)
TK_BINARY(operator/, divided, a / b)
TK_BINARY(max, larger, be::max(a, b))
TK_BINARY(min, smaller, be::min(a, b))
#undef TK_BINARY

#define TK_UNARY(NAME, FUNCTOR, RESULT)                          \
  struct FUNCTOR {                                               \
    TK_DEVICE float operator()(float a) const { return RESULT; } \
  };                                                             \
  template <tile_expression A> TK_DEVICE auto NAME(A&& a) {      \
    using X = std::remove_cvref_t<A>;                            \
    lazy<FUNCTOR, operand<X>> e{{a}, {}};                        \
    if constexpr (is_col<X>) return X(e);                        \
    else return e;                                               \
  }
TK_UNARY(operator-, negated, -a)
TK_UNARY(abs, magnitude, be::max(a, -a))
TK_UNARY(square, squared, a* a)
TK_UNARY(exp2, exp2_of, be::exp2(a))
TK_UNARY(log2, log2_of, be::log2(a))
TK_UNARY(reciprocal, reciprocal_of, be::reciprocal(a))
TK_UNARY(rsqrt, rsqrt_of, be::rsqrt(a))
#undef TK_UNARY

// Any functor, float(float), element by element: one without state by its type, one that holds
// values as an object, which is copied.
template <class F, class A> struct lazy_map {
  static constexpr int rows = A::rows, cols = A::cols;
  F f;
  A a;
  template <class Map> TK_DEVICE float element(int i, int r) const {
    return f(a.template element<Map>(i, r));
  }
};
template <class F, class A> inline constexpr bool is_lazy<lazy_map<F, A>> = true;
template <class F, class A> struct operand<lazy_map<F, A>> {
  static constexpr int rows = A::rows, cols = A::cols;
  lazy_map<F, A> x;
  template <class Map> TK_DEVICE float element(int i, int r) const {
    return x.template element<Map>(i, r);
  }
};
template <class F, class A>
inline constexpr bool has_halves<operand<lazy_map<F, A>>> = has_halves<A>;
template <class F, tile_expression A> TK_DEVICE auto map(F f, A&& a) {
  using X = std::remove_cvref_t<A>;
  lazy_map<F, operand<X>> const e{f, {a}};
  if constexpr (is_col<X>) return X(e);
  else return e;
}
template <class F, tile_expression A> TK_DEVICE auto map(A&& a) {
  return map(F{}, static_cast<A&&>(a));
}

// cast<T>(x) rounds to nearest even where it is used: assigned to a packed tile, or stored. Of fp8
// saturating_cast<T>(x) makes the largest number of what is larger; NaN stays.
template <class T, class X, bool Saturates = false> struct narrowed {
  static constexpr int rows = X::rows, cols = X::cols;
  using type = T;
  X x;
  using map = be::fragment_map<rows, cols>;
  TK_DEVICE float value(int i, int r) const {
    float const y = x.template element<map>(i, r);
    if constexpr (Saturates) return saturate<T>(y);
    else return y;
  }
  template <int Half> TK_DEVICE float half(int i, int r) const {
    return x.template element<half_map<rows, cols, Half>>(i, r);
  }
  TK_DEVICE std::uint32_t word(int i, int r) const {
    float const lo = x.template element<map>(2 * i, r), hi = x.template element<map>(2 * i + 1, r);
    if constexpr (Saturates) return be::pack_saturated(T{}, lo, hi);
    else return be::pack(T{}, lo, hi);
  }
};
template <class T, tile_expression X> TK_DEVICE auto saturating_cast(X&& x) {
  using D = std::remove_cvref_t<X>;
  static_assert(is_tile<D> && sizeof(T) == 1, "a saturating cast takes a tile to fp8");
  return narrowed<T, operand<D>, true>{{x}};
}
// saturating_cast<T, U>(x, other): to U, which is as long, where `other`.
template <class T, class U, class X> struct narrowed_to_either {
  static constexpr int rows = X::rows, cols = X::cols;
  using type = T;
  X x;
  bool other;
  using map = be::fragment_map<rows, cols>;
  static TK_DEVICE std::uint32_t pack(float lo, float hi, bool other) {
    return other ? be::pack_saturated(U{}, lo, hi) : be::pack_saturated(T{}, lo, hi);
  }
  TK_DEVICE std::uint32_t bits(int i, int r) const {
    return pack(x.template element<map>(i, r), 0.f, other) & 0xff;
  }
  TK_DEVICE std::uint32_t word(int i, int r) const {
    return pack(x.template element<map>(2 * i, r), x.template element<map>(2 * i + 1, r), other);
  }
};
template <class T, class U, tile_expression X> TK_DEVICE auto saturating_cast(X&& x, bool other) {
  using D = std::remove_cvref_t<X>;
  static_assert(is_tile<D> && sizeof(T) == 1 && sizeof(U) == 1, "a tile, to either fp8");
  return narrowed_to_either<T, U, operand<D>>{{x}, other};
}
template <class T, tile_expression X> TK_DEVICE auto cast(X&& x) {
  using D = std::remove_cvref_t<X>;
  static_assert(is_tile<D>, "cast takes a tile");
  return narrowed<T, operand<D>>{{x}};
}

}  // namespace tk
