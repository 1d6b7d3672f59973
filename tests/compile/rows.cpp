// SPDX-License-Identifier: MIT
// Flat tiles: what must not compile, and right beside it its correct form, which must.
// expect WITHOUT_WORKER: the rows of a flat tile are reduced by row_sum
// expect FLAT_ON_TILE: a flat row meets flat tiles only
// expect COLUMN_OF_ONE: operands differ in rows
// expect ODD_ROWS: multiples of 16, or its rows below 16
#include "core/rows.hpp"

#include "tests/compile/program.hpp"

namespace tk::test {

struct body {
  template <class Context> TK_DEVICE void operator()(Context& c) const {
    constexpr int N = 1024;
    reg_tile<float, 2, N> x = 1.f;
    reg_tile<float, 1, N> row = 2.f;
    x = x * row + row;
    row_parts<2>* parts = nullptr;
#if defined(WITHOUT_WORKER)
    x = x - row_sum(x);
#else
    x = x - row_sum(c.w, x, *parts);
#endif
#if defined(FLAT_ON_TILE)
    reg_tile<float, R, N> y = 1.f;
    y = y * row;
#endif
#if defined(COLUMN_OF_ONE)
    reg_col<float, 1> one = 1.f;
    x = x * one;
#else
    reg_col<float, 2> two = 1.f;
    x = x * two;
#endif
#if defined(ODD_ROWS)
    reg_tile<float, 17, 32> z = 0.f;
#endif
  }
};

void run() { compile<body>(); }

}  // namespace tk::test
