// SPDX-License-Identifier: MIT
// Columns that can't change places.
// expect NONE: xor_cols exchanges columns of the same 16
// expect FAR: xor_cols exchanges columns of the same 16
// expect TWO_BITS: choose_cols takes a column's bit
// expect PARTS: put_columns fills one of a tile's equal parts
#include "core/exchange_columns.hpp"
#include "tests/compile/program.hpp"

namespace tk::test {

struct body {
  template <class Context> TK_DEVICE void operator()(Context&) const {
    tile<32> x = 0.f;
    x = xor_cols<1>(x);
    packed<32> y = cast<bf16>(x * 1.f);
    packed<48> z = cast<bf16>(tile<48>(0.f) * 1.f);
    y = choose_cols<8>(y, rounded_product(y, y));
#if defined(NONE)
    x = xor_cols<0>(x);
#elif defined(FAR)
    y = xor_cols<16>(y);
#elif defined(TWO_BITS)
    x = choose_cols<3>(x, x);
#elif defined(PARTS)
    put_columns(z, y, 0);
#endif
    put_columns(z, packed<16>(cast<bf16>(tile<16>(0.f) * 1.f)), 1);
  }
};
template void compile<body>();

}  // namespace tk::test
