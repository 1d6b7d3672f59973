// SPDX-License-Identifier: MIT
// timeout: 600
// topk thirty times on the same inputs, equal bit for bit, and from many threads at once.
#include "tests/ops/topk/topk.hpp"
#include "tests/support/repeats.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Rows of each kernel; many keys for little room among them.
std::vector<topk_case> problems() {
  std::vector<topk_case> all;
  int turn = 0;
  for (std::int64_t const width : {16, 64, 500, 3000, 20000})
    for (std::int64_t const k : {1, 8, 300}) {
      if (k > width) continue;
      topk_case x{.shape = {.rank = 2, .rows = width < 1000 ? 19 : 2, .width = width}, .k = k};
      x.type = row_types[turn % 3];
      x.of = ++turn % 2 ? contents::ties : contents::ascending;
      x.smallest = turn % 5 == 0;
      all.push_back(x);
    }
  return all;
}

topk_case few_rows(int i) {
  topk_case x{.shape = {.rank = 2, .rows = 1 + i % 7, .width = 130 + 161 * (i % 40)}};
  x.k = 1 + i % 60;
  x.of = static_cast<contents>(i % all_contents);
  return x;
}

TEST_CASE("topk gives the same bits thirty times") { run_repeats<topk_operands>(problems()); }
TEST_CASE("topk from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_rows);
}

}  // namespace
}  // namespace tk::test
