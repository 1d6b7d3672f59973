// SPDX-License-Identifier: MIT
// Reductions over columns, and transposed loads, that don't fit.
// expect LENGTH: a reduction over columns gives as many values as it has columns
// expect NOT_A_TILE: a reduction over columns takes a tile
// expect KEPT: used where it is written: it cannot be kept
// expect VALUES: no match|no instance
// expect TRANSPOSED_SHAPE: no match|no instance
#include "core/vector.hpp"

#include "tests/compile/program.hpp"

namespace tk::test {

struct none {
  template <class Context> TK_DEVICE void operator()(Context&) const {}
};

struct with_vectors : program<none> {
  struct scratch {
    shared_vec<float, 32> vec;
    shared_vec<bf16, 2 * R> longer;
    col_exchange<32> exchange;
    shared_tile<bf16, 32, R> tile;
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const&, task const&) {
    auto& s = c.scratch;
    tile<32> x = 1.f;
    tile<48> wider = 1.f;
    reg_col<float, R> col = 1.f;
    packed<32> p;
    packed<48> q;
#if defined(LENGTH)
    col_sum(c.w, s.vec, wider, s.exchange);
#elif defined(NOT_A_TILE)
    col_sum(c.w, s.vec, col, s.exchange);
#elif defined(KEPT)
    auto e = x * 2.f;
    col_sum(c.w, s.vec, e, s.exchange);
#elif defined(VALUES)
    store(s.longer, col);
#elif defined(TRANSPOSED_SHAPE)
    load_transposed(q, s.tile);
#endif
    col_sum(c.w, s.vec, x * 2.f, s.exchange);
    col_max(c.w, s.vec, x - as_row(s.vec), s.exchange);
    cumsum(c.w, s.vec);
    load_transposed(p, s.tile);
  }
};

void run() { be::launch<with_vectors>({}, nullptr); }

}  // namespace tk::test
