// SPDX-License-Identifier: MIT
// timeout: 600
// Based thirty times on the same inputs, equal bit for bit, and from many threads at once.
#include "tests/support/repeats.hpp"

#include "tests/ops/based/oracle.hpp"

namespace tk::test {
namespace {

// Walked and cut, packed.
std::vector<based_case> many_tokens() {
  std::vector<based_case> all{{.n = 130, .h = 2, .normalise = true, .states = true},
                              {.dv = 80, .lengths = {33, 0, 1, 77}},
                              {.n = cut_length(), .dv = 16, .normalise = true},
                              {.b = 3, .n = 1, .h = 2, .normalise = true, .states = true}};
  all[1].type = dtype::fp16;
  return all;
}
directed<forward_operands> few_tokens(int i) {
  based_case x{.b = 1 + i % 2, .n = 5 + 17 * (i % 5), .h = 1 + i % 3};
  x.dv = 16 * (1 + i % 5);
  x.normalise = i % 3 == 0;
  x.states = i % 2 == 0;
  return x;
}

TEST_CASE("Based gives the same bits thirty times") {
  run_repeats<forward_operands>(many_tokens());
}
TEST_CASE("Based from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_tokens);
}

}  // namespace
}  // namespace tk::test
