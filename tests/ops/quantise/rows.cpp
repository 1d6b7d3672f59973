// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of y and of scale under TK_REPEAT_ROW: the same bits whatever the number of rows.
#include "tests/ops/quantise/quantise.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

TEST_CASE("rows of quantise do not depend on the other rows") {
  int turn = 0;
  for (std::int64_t const width : {64, 128, 1000, 1024, 4096, 8191, 20000})
    for (auto const type : row_types) {
      ++turn;
      if (test_level() == level::quick && turn % 2) continue;
      quantise_case x{.shape = {.rank = 2, .rows = 0, .width = width}, .type = type};
      x.kind = turn % 4 < 2 ? TK_SCALE_ROW : TK_SCALE_1X128;
      x.y_type = turn % 3 ? dtype::fp8_e4m3 : dtype::fp8_e5m2;
      x.power_of_two = turn % 5 == 0;
      // Whole rows, and such that are not.
      for (auto* how : {&x.x_layout, &x.y_layout}) {
        how->padding = width % 8 ? 1 : 0;
        how->misalignment = turn % 5 ? 0 : 1;
      }
      check_rows_alone(x, most_rows(width));
    }
}

}  // namespace
}  // namespace tk::test
