// SPDX-License-Identifier: MIT
// timeout: 600
// embedding thirty times on the same inputs, equal bit for bit, and from many threads at once.
#include "tests/ops/embedding/embedding.hpp"
#include "tests/support/repeats.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Rows for each class of tiles, so many that some are dealt late, and longer ones.
std::vector<embedding_case> many_rows() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<embedding_case> all;
  int turn = 0;
  for (std::int64_t const width : {64, 1000, 2048, 8192, 20000}) {
    auto x = embedding_of({.rank = 3, .h = 5, .rows = 3, .width = width}, 50);
    if (width == 64) x.shape.rows = 40 * units;
    x.type = ++turn % 3 ? dtype::bf16 : dtype::fp32;
    x.ids = static_cast<id_kind>(turn % id_kinds);
    all.push_back(x);
  }
  return all;
}

embedding_case few_rows(int i) {
  auto x = embedding_of({.rank = 2, .rows = 1 + i % 7, .width = 30 + 61 * (i % 9)}, 9);
  x.ids = static_cast<id_kind>(i % id_kinds);
  return x;
}

TEST_CASE("embedding gives the same bits thirty times") {
  run_repeats<embedding_operands>(many_rows());
}
TEST_CASE("embedding from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_rows);
}

}  // namespace
}  // namespace tk::test
