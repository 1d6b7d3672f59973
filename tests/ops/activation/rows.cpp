// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of y, da and db under TK_REPEAT_ROW: the same bits whatever the number of rows.
#include "tests/ops/activation/activation_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

template <class Case> void check_rows(std::span<matrix_layout Case::* const> layouts) {
  int turn = 0;
  for (std::int64_t const width : {64, 1024, 4096, 8191, 20000})
    for (auto const type : row_types) {
      ++turn;
      if (test_level() == level::quick && type != row_types[turn / 3 % 3]) continue;
      Case x{.shape = {.rank = 2, .rows = 0, .width = width}, .type = type};
      x.kind = activation_kinds[turn % 6];
      x.gated = turn % 4 != 0;
      x.interleaved = turn % 4 > 1 && type != dtype::fp32;
      // All rows at multiples of 16 bytes, or none.
      for (auto const how : layouts) {
        (x.*how).padding = width % 8 ? 1 : 0;
        (x.*how).misalignment = turn % 5 ? 0 : 1;
      }
      check_rows_alone(x, most_rows(width));
    }
}

TEST_CASE("rows of activation do not depend on the other rows") {
  using c = activation_case;
  constexpr layout_of<c> layouts[] = {&c::a_layout, &c::b_layout, &c::y_layout};
  check_rows<c>(layouts);
}
TEST_CASE("rows of activation's backward do not depend on the other rows") {
  using c = activation_backward_case;
  constexpr layout_of<c> layouts[] = {&c::a_layout, &c::b_layout, &c::dy_layout, &c::da_layout,
                                      &c::db_layout};
  check_rows<c>(layouts);
}

}  // namespace
}  // namespace tk::test
