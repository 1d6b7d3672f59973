// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of embedding under TK_REPEAT_ROW: the same bits whatever their number.
#include "tests/ops/embedding/embedding.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

TEST_CASE("rows of embedding do not depend on the other rows") {
  int turn = 0;
  for (std::int64_t const width : {64, 130, 1024, 4096})
    for (auto const type : row_types) {
      ++turn;
      if (test_level() == level::quick && turn % 3) continue;
      auto x = embedding_of({.rank = 2 + turn % 2, .rows = turn % 2 ? 5 : 1, .width = width}, 37);
      x.type = type;
      x.ids = turn % 2 ? id_kind::random : id_kind::half;
      check_rows_alone(x, most_rows(width) / 5);
    }
}

}  // namespace
}  // namespace tk::test
