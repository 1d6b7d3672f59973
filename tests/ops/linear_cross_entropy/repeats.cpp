// SPDX-License-Identifier: MIT
// timeout: 600
// linear_cross_entropy thirty times on the same inputs, equal bit for bit, and from many threads at
// once.
#include "tests/ops/linear_cross_entropy/linear_cross_entropy.hpp"
#include "tests/support/repeats.hpp"

namespace tk::test {
namespace {

std::vector<linear_case> cases() {
  std::vector<linear_case> all;
  for (std::int64_t const vocab : {70, 300, 1030})
    for (std::int64_t const chunk : {0, 9}) {
      linear_case x{.shape = {.rank = 2, .rows = 20, .width = vocab}, .chunk_rows = chunk};
      x.store_dx = x.store_dw = true;
      x.store_lse = vocab > 100;
      x.fp32_dw = chunk > 0;
      all.push_back(x);
    }
  return all;
}

linear_case few_rows(int i) {
  linear_case x{.shape = {.rank = 2, .rows = 1 + i % 7, .width = 30 + 61 * (i % 9)}, .d = 32};
  x.chunk_rows = i % 3;
  x.store_dx = i % 2;
  x.store_dw = i % 4 == 1;
  return x;
}

TEST_CASE("linear_cross_entropy gives the same bits thirty times") {
  run_repeats<linear_operands>(cases());
}
TEST_CASE("linear_cross_entropy from many threads at once") {
  run_from_threads(test_level() == level::quick ? 2 : 20, few_rows);
}

}  // namespace
}  // namespace tk::test
