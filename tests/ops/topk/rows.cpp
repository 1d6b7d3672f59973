// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of topk under TK_REPEAT_ROW: the same whatever their number.
#include "tests/ops/topk/topk.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

TEST_CASE("rows of topk do not depend on the other rows") {
  int turn = 0;
  for (std::int64_t const width : {8, 64, 300, 3000})
    for (auto const type : row_types) {
      topk_case x{.shape = {.rank = 2, .rows = 0, .width = width}, .k = ++turn % 2 ? 8 : 5};
      x.type = type;
      x.of = turn % 3 ? contents::ties : contents::specials;
      x.x_layout.padding = turn % 4 ? 0 : 1;
      if (test_level() == level::quick && turn % 3) continue;
      check_rows_alone(x, std::min<std::int64_t>(most_rows(width), width > 1000 ? 320 : 8192));
    }
}

}  // namespace
}  // namespace tk::test
