// SPDX-License-Identifier: MIT
// The columns of ops/based/moments.hpp, from tiles of 16 columns in registers.
#pragma once
#include <type_traits>

#include "backends/kernel.hpp"
#include "core/exchange_columns.hpp"
#include "ops/based/moments.hpp"

namespace tk {

template <int Tile> using moment_tile = std::integral_constant<int, Tile>;

// body(tile, partner) for tiles 0 to 8, moment_tile and what x is multiplied by there; partner of
// tile 8 is right where its columns are products.
template <class T, int R, class Body>
TK_DEVICE void for_each_partner(reg_tile<T, R, 16> const& x, Body body) {
  auto const x2 = xor_cols<2>(x), x4 = xor_cols<4>(x), x6 = xor_cols<6>(x);
  body(moment_tile<0>{}, x);
  body(moment_tile<1>{}, choose_cols<8>(xor_cols<8>(x), xor_cols<9>(x)));
  body(moment_tile<2>{}, choose_cols<8>(xor_cols<8>(x2), xor_cols<9>(x2)));
  body(moment_tile<3>{}, choose_cols<8>(xor_cols<8>(x4), xor_cols<9>(x4)));
  body(moment_tile<4>{}, choose_cols<8>(xor_cols<8>(x6), xor_cols<9>(x6)));
  body(moment_tile<5>{}, choose_cols<1>(xor_cols<1>(x), xor_cols<1>(x2)));
  body(moment_tile<6>{}, choose_cols<1>(xor_cols<1>(x4), xor_cols<1>(x6)));
  body(moment_tile<7>{}, choose_cols<2>(x2, x6));
  body(moment_tile<8>{}, x4);
}

// 1 in the column of the constant, in the first `rows` rows; else 0.
template <class T, int R> TK_DEVICE reg_tile<T, R, 16> column_of_one(int rows) {
  reg_tile<float, R, 16> x;
  x = max(1.f - abs(cols(-based_moments::of_one)), 0.f);
  keep_rows(x, rows, 0.f);
  return cast<T>(x * 1.f);
}

// Products rounded to T once; `one` is column_of_one().
template <class T, int R>
TK_DEVICE void expand(reg_tile<T, R, based_moments::columns>& to, reg_tile<T, R, 16> const& x,
                      reg_tile<T, R, 16> const& one) {
  for_each_partner(x, [&](auto tile, reg_tile<T, R, 16> const& partner) {
    auto const product = rounded_product(x, partner);
    if constexpr (tile == based_moments::products_with_one)
      put_columns(to, choose_cols<based_moments::of_one>(product, one), tile);
    else put_columns(to, product, tile);
  });
  put_columns(to, x, based_moments::linear);
}

// A tile of columns of a state, as a query meets it.
template <class T, int R>
TK_DEVICE reg_tile<T, R, 16> weigh_moments(reg_tile<float, R, 16> const& x, int tile, float scale) {
  reg_tile<float, R, 16> weighted;
  weighted = x * based_moments::weight(tile * 16, scale);
  if (tile == based_moments::products_with_one)
    weighted = choose_cols<based_moments::of_one>(weighted, x);
  return cast<T>(weighted * 1.f);
}

}  // namespace tk
