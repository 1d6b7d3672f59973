// SPDX-License-Identifier: MIT
// timeout: 600
// embedding_backward thirty times on the same inputs, equal bit for bit, and from many threads at
// once.
#include "tests/ops/embedding/embedding_backward.hpp"
#include "tests/support/repeats.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Rows of several pieces beside short ones; sorts of one and two passes.
std::vector<embedding_backward_case> many_tokens() {
  std::vector<embedding_backward_case> all;
  int turn = 0;
  for (std::int64_t const width : {8, 100, 1030})
    for (std::int64_t const v : {3, 400}) {
      auto x =
          embedding_backward_of({.rank = 2, .rows = width > 500 ? 300 : 2200, .width = width}, v);
      x.type = x.table_type = ++turn % 3 ? dtype::bf16 : dtype::fp32;
      x.ids = turn % 2 ? id_kind::half : id_kind::random;
      all.push_back(x);
    }
  return all;
}

embedding_backward_case few_tokens(int i) {
  auto x =
      embedding_backward_of({.rank = 2, .rows = 1 + 31 * (i % 7), .width = 30 + 61 * (i % 9)}, 9);
  x.ids = static_cast<id_kind>(i % id_kinds);
  return x;
}

TEST_CASE("embedding's backward gives the same bits thirty times") {
  run_repeats<embedding_backward_operands>(many_tokens());
}
TEST_CASE("embedding's backward from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_tokens);
}

}  // namespace
}  // namespace tk::test
