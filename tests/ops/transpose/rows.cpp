// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Matrices under TK_REPEAT_ROW: the same bits whatever their number.
#include "tests/ops/transpose/transpose.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

TEST_CASE("matrices of transpose do not depend on the others") {
  int turn = 0;
  for (std::int64_t const width : {3, 64, 65}) {
    auto x = transpose_of({.rank = 3, .h = 0, .rows = 5, .width = width});
    x.type = moved_types[turn++];
    check_rows_alone(x, 320);
  }
}

}  // namespace
}  // namespace tk::test
