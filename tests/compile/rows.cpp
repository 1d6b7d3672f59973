// SPDX-License-Identifier: MIT
// Flat tiles: what must not compile, and right beside it its correct form, which must.
// expect WITHOUT_CONTEXT: the rows of a flat tile are summed by row_sum
// expect OTHER_ROWS: a row meets tiles of as many rows as it was made for
// expect COLUMN_OF_ONE: operands differ in rows
// expect STORED_FLAT: store takes cast<T>\(x\)
// expect RANDOM_FLAT: random bytes meet tiles of 16 rows and more
// expect RANDOM_WIDER: random bytes meet what a part of the rows has
// expect ODD_ROWS: multiples of 16, or its rows below 16
// expect SEVERAL_WALK: a lane has one row of a tile that walks
#include "core/random.hpp"
#include "core/row_random.hpp"
#include "core/rows.hpp"
#include "core/walk.hpp"

#include "tests/compile/program.hpp"

namespace tk::test {

struct body {
  template <class Context> TK_DEVICE void operator()(Context& c) const {
    constexpr int N = 1024;
    reg_tile<float, 2, N> x = 1.f;
    reg_row<float, 2, N> row{};
    x = x * row + row;
    struct with_exchange {
      decltype(c.w) w;
      struct {
        row_exchange<2> exchange;
      } scratch;
    } summing{c.w, {}};
    int buffer = 0;
#if defined(WITHOUT_CONTEXT)
    x = x - row_sum(x);
#else
    x = x - row_sum(summing, x, buffer);
#endif
#if defined(OTHER_ROWS)
    reg_tile<float, 1, N> y = 1.f;
    y = y * row;
#endif
#if defined(COLUMN_OF_ONE)
    reg_col<float, 1> one = 1.f;
    x = x * one;
#else
    reg_col<float, 2> two = 1.f;
    x = x * two;
#endif
    tensor<bf16> const out{nullptr, 2, N, N};
#if defined(STORED_FLAT)
    store(out, 1, 0, 0, x);
#else
    store(out, 1, 0, 0, cast<bf16>(x));
#endif
#if defined(SEVERAL_WALK)
    int const here = this_row<8, N>(0);
#else
    int const here = this_row<1, N>(0);
#endif
    x = x + static_cast<float>(here);
    tile<32> thick = 1.f;
    random_plane const plane{};
#if defined(RANDOM_FLAT)
    keep_random(x, plane, 5, 0, 0);
#else
    keep_random(thick, plane, 5, 0, 0);
#endif
#if defined(RANDOM_WIDER)
    reg_tile<float, 2, 2 * N> part = 1.f;
#else
    reg_tile<float, 2, N> part = 1.f;
#endif
    x = kept_at_random<2, N, 1, true, decltype(part)>(part, plane, 5, 0, 0) * 2.f;
#if defined(ODD_ROWS)
    reg_tile<float, 17, 32> z = 0.f;
#endif
  }
};

void run() { compile<body>(); }

}  // namespace tk::test
