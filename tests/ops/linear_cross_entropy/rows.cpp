// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of loss, lse and dx under TK_REPEAT_ROW: the same bits whatever the number of rows and of
// chunks. d is so long that a chip which cuts tiles along k would cut those of few rows.
#include "tests/ops/linear_cross_entropy/linear_cross_entropy.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

std::string compare_part(linear_operands const& large, std::int64_t first, std::int64_t m,
                         std::int64_t& rows) {
  linear_case c = large.of;
  c.shape.rows = 0;
  linear_operands few(c);
  few.of.shape.rows = m;
  few.of.chunk_rows = m % 3 == 0 ? 0 : m % 3 == 1 ? m / 2 : 50;
  few.x = part_of(large.x, first, m);
  few.w = large.w;
  few.labels = part_of(large.labels, first, m);
  world outputs(7);
  few.loss = part_apart(outputs, large.loss, first, m);
  few.lse = part_apart(outputs, large.lse, first, m);
  few.dx = part_apart(outputs, large.dx, first, m);
  if (auto const wrong = launch_by_rows(few, outputs); !wrong.empty()) return wrong;
  row_comparison bits;
  for (std::int64_t row = 0; row < m; ++row) {
    bits.add(few.loss, row, large.loss, first + row);
    bits.add(few.lse, row, large.lse, first + row);
    bits.add(few.dx, row, large.dx, first + row);
  }
  rows += bits.compared();
  return bits.wrong();
}

TEST_CASE("rows of linear_cross_entropy do not depend on the other rows, nor on chunks") {
  for (std::int64_t const vocab : {72, 257}) {
    std::int64_t const most = test_level() == level::quick ? 130 : 400;
    linear_case c{.shape = {.rank = 2, .rows = most, .width = vocab}, .d = 1024};
    c.chunk_rows = 100;
    c.store_lse = c.store_dx = true;
    c.fp32_dx = true;  // bf16 would round most differences away
    linear_operands large(c);
    compare_small_problems(large, most, compare_part);
  }
}

}  // namespace
}  // namespace tk::test
