// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of y under TK_REPEAT_ROW: the same bits whatever the number of rows, which decides how all
// of them are cut.
#include "tests/ops/add/add.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

TEST_CASE("rows of add do not depend on the other rows") {
  int turn = 0;
  for (std::int64_t const width : {64, 768, 1024, 4096, 8191, 20000})
    for (auto const type : row_types) {
      ++turn;
      if (test_level() == level::quick && turn % 3) continue;
      add_case x{.shape = {.rank = 2, .rows = 0, .width = width}, .type = type};
      x.y_type = row_types[turn / 2 % 3];
      x.alpha = 1.1f, x.beta = -0.7f;
      x.has_b = turn % 4;
      x.a_layout.padding = turn % 2;
      check_rows_alone(x, most_rows(width));
    }
}

}  // namespace
}  // namespace tk::test
