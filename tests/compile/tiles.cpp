// SPDX-License-Identifier: MIT
// Tiles whose dimensions no chip, or not this one, can hold.
// expect REG_COLUMNS: a tile's dimensions are multiples of 16
// expect PACKED_COLUMNS: a tile's dimensions are multiples of 16
// expect REG_ROWS: a register tile has a multiple of|a tile's dimensions are multiples of 16
// expect SHARED_ROWS: a tile's dimensions are multiples of 16
// expect SHARED_COLUMNS: a tile's dimensions are multiples of 16
// expect SHARED_FP8: a shared tile of fp8 has a multiple of 32 columns
// expect FLAT_FP8: an fp8 tile has a multiple of 16 rows
// expect TRANSPOSING_ROWS: the rows are whole chunks of the destination
// expect TRANSPOSING_COLUMNS: the columns are multiples of 128 bytes
// expect VECTOR: a vector's length is a multiple of 16
// expect PART_OF_PANEL: columns\(\) cuts whole panels
// expect STORED_SHAPE: a tile is stored to a shared tile of its own shape
#include "core/copy_transposed.hpp"
#include "tests/compile/program.hpp"

namespace tk::test {

struct body {
  template <class Context> TK_DEVICE void operator()(Context&) const {
#if defined(REG_COLUMNS)
    tile<24> x = 0.f;
#elif defined(PACKED_COLUMNS)
    packed<8> x;
#elif defined(FLAT_FP8)
    reg_tile<fp8_e4m3, 1, 1024> x;
#elif defined(REG_ROWS)
    reg_tile<float, R == 16 ? 24 : R + R / 2, 32> x = 0.f;
#endif
  }
};

#if defined(SHARED_ROWS)
shared_tile<bf16, 24, 64> wrong;
#elif defined(SHARED_COLUMNS)
shared_tile<float, 64, 40> wrong;
#elif defined(SHARED_FP8)
shared_tile<fp8_e5m2, 64, 48> wrong;
#elif defined(TRANSPOSING_ROWS)
transposing_tile<bf16, 20, 64> wrong;
#elif defined(TRANSPOSING_COLUMNS)
transposing_tile<bf16, 64, 96> wrong;
#elif defined(VECTOR)
shared_vec<float, 24> wrong;
#endif

struct with_scratch : program<body> {
  struct scratch {
    shared_tile<bf16, R, 128> wide;
    shared_tile<bf16, R, 64> narrow;
  };
  template <class Context> static TK_DEVICE void compute(Context& c, args const&, task const&) {
    body{}(c);
    tile<64> x = 0.f;
    store(c.scratch.narrow, cast<bf16>(x));
    packed<64> p;
    tk::load(p, columns<64>(c.scratch.wide, 1));
    x = x + p;
#if defined(PART_OF_PANEL)
    packed<16> q;
    tk::load(q, columns<16>(c.scratch.wide, 1));
#elif defined(STORED_SHAPE)
    store(c.scratch.wide, cast<bf16>(x));
#endif
  }
};

void run() { be::launch<with_scratch>({}, nullptr); }

}  // namespace tk::test
