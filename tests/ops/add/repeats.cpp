// SPDX-License-Identifier: MIT
// timeout: 600
// add thirty times on the same inputs, equal bit for bit, and from many threads at once.
#include "tests/ops/add/add.hpp"
#include "tests/support/repeats.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Rows for each class of tiles, so many that some are dealt late, and pieces with a rest.
std::vector<add_case> sums() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<add_case> all;
  int turn = 0;
  for (std::int64_t const width : {64, 520, 1000, 2048, 8192, 20000}) {
    add_case x{.shape = {.rank = 3, .h = 2, .rows = 3, .width = width}};
    if (width == 520) x.shape.rows = 40 * units;
    x.type = row_types[++turn % 3];
    x.y_type = row_types[turn / 2 % 3];
    x.has_b = turn % 4;
    x.alpha = 0.7f;
    if (turn % 2) x.a_layout.padding = 8;
    if (turn == 3) x.place = row_place::on_second;
    all.push_back(x);
  }
  return all;
}

add_case few_rows(int i) {
  add_case x{.shape = {.rank = 2, .rows = 1 + i % 7, .width = 130 + 61 * (i % 40)}};
  x.type = row_types[i % 3];
  x.has_b = i % 2;
  return x;
}

TEST_CASE("add gives the same bits thirty times") { run_repeats<add_operands>(sums()); }
TEST_CASE("add from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_rows);
}

}  // namespace
}  // namespace tk::test
