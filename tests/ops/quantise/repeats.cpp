// SPDX-License-Identifier: MIT
// timeout: 600
// quantise thirty times on the same inputs, equal bit for bit, and from many threads at once.
#include "tests/ops/quantise/quantise.hpp"
#include "tests/support/repeats.hpp"

namespace tk::test {
namespace {

// Rows for each class of tiles and of each block, so many that some are dealt late, and longer
// ones.
std::vector<quantise_case> many_rows() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<quantise_case> all;
  int turn = 0;
  for (std::int64_t const width : {64, 1000, 2048, 4096, 8192, 20000, 70000}) {
    auto x = quantise_of_kind({.rank = 2, .rows = 5, .width = width}, 11 * turn++);
    if (width == 64) x.shape.rows = 40 * units;
    all.push_back(x);
  }
  all.push_back(quantise_of_kind({.rank = 2, .rows = 300, .width = 1000}, TK_SCALE_128X128));
  all.push_back(quantise_of_kind({.rank = 2, .rows = 300, .width = 1000}, TK_SCALE_TENSOR));
  return all;
}

quantise_case few_rows(int i) {
  return quantise_of_kind({.rank = 2, .rows = 1 + i % 7, .width = 130 + 61 * (i % 40)},
                          i % quantise_kinds);
}

TEST_CASE("quantise gives the same bits thirty times") {
  run_repeats<quantise_operands>(many_rows());
}
TEST_CASE("quantise from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_rows);
}

}  // namespace
}  // namespace tk::test
