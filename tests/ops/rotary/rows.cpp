// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Tokens under TK_REPEAT_ROW: the same bits whatever their number.
#include "tests/ops/rotary/rotary.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Tokens in order, which are cut with their rows of the tables.
TEST_CASE("tokens of rotary do not depend on the other tokens") {
  int turn = 0;
  for (std::int64_t const width : {64, 128, 130, 256, 1024})
    for (auto const type : row_types) {
      ++turn;
      if (test_level() == level::quick && turn % 3) continue;
      auto x = rotary_of({.rank = 3, .h = 0, .rows = turn % 2 ? 4 : 5, .width = width});
      x.type = type;
      x.table_type = turn % 4 ? dtype::fp32 : type;
      x.interleaved = turn % 2;
      x.has_k = turn % 3 == 0;
      // All rows at multiples of 16 bytes, or none.
      for (auto* how : {&x.q_layout, &x.k_layout, &x.out_layout}) {
        how->padding = width % 8 ? 1 : 0;
        how->misalignment = turn % 5 ? 0 : 1;
      }
      check_rows_alone(x, most_rows(width) / 5);
    }
}

}  // namespace
}  // namespace tk::test
