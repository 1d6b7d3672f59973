// SPDX-License-Identifier: MIT
// Expressions that must not compile, and right beside each its correct form, which must.
// expect KEPT: used where it is written: it cannot be kept
// expect KEPT_OPERAND: used where it is written: it cannot be kept
// expect KEPT_REDUCED: used where it is written: it cannot be kept
// expect KEPT_CAST: used where it is written: it cannot be kept
// expect COLUMNS_DIFFER: operands differ in columns
// expect ROWS_DIFFER: operands differ in rows
// expect ASSIGNED_SHAPE: an expression is assigned to a tile of its own shape
// expect CAST_SHAPE: a cast is assigned to a tile of its own shape
// expect CAST_COLUMN: cast takes a tile
// expect FP32_TO_PACKED: a packed tile is assigned a cast to its own element type
// expect CAST_TYPE: a packed tile is assigned a cast to its own element type
#include "core/reduce.hpp"
#include "tests/compile/program.hpp"

namespace tk::test {

struct body {
  template <class Context> TK_DEVICE void operator()(Context&) const {
    tile<32> x = 1.f, y = 2.f;
    reg_col<float, R> col = 3.f;
    packed<32> p;
#if defined(KEPT)
    auto e = x + y;
    x = e;
#else
    x = x + y;
#endif
#if defined(KEPT_OPERAND)
    auto e = x + y;
    x = e * 2.f;
#else
    x = (x + y) * 2.f;
#endif
#if defined(KEPT_REDUCED)
    auto e = x + y;
    col = row_sum(e);
#else
    col = row_sum(x + y);
#endif
#if defined(KEPT_CAST)
    auto e = x + y;
    p = cast<bf16>(e);
#else
    p = cast<bf16>(x + y);
#endif
#if defined(COLUMNS_DIFFER)
    tile<16> z = 0.f;
    x = x + z;
#endif
#if defined(ROWS_DIFFER)
    reg_col<float, 2 * R> longer = 0.f;
    x = x * longer;
#else
    x = x * col;
#endif
#if defined(ASSIGNED_SHAPE)
    tile<64> z = 0.f;
    z = x * 2.f;
#endif
#if defined(CAST_SHAPE)
    packed<64> q = cast<bf16>(x);
#endif
#if defined(CAST_COLUMN)
    auto q = cast<bf16>(col);
#endif
#if defined(CAST_TYPE)
    p = cast<fp16>(x);
#elif defined(FP32_TO_PACKED)
    p = x;
#else
    p = cast<bf16>(x);
#endif
    x = x + p;
  }
};

void run() { compile<body>(); }

}  // namespace tk::test
