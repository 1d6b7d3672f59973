// SPDX-License-Identifier: MIT
// timeout: 600
// Hedgehog attention and its backward thirty times on the same inputs, equal bit for bit, and from
// many threads at once.
#include "tests/support/repeats.hpp"

#include "tests/ops/hedgehog/backward_oracle.hpp"

namespace tk::test {
namespace {

std::vector<hedgehog_case> many_tokens() {
  std::vector<hedgehog_case> all{{.n = 140, .states = true},
                                 {.b = 2, .n = 70, .past = 69, .type = dtype::fp16, .states = true},
                                 {.states = true, .lengths = {33, 0, 1, 66}}};
  if (test_level() != level::quick) all.push_back({.n = cut_length()});
  return all;
}
hedgehog_case few_tokens(int i) {
  hedgehog_case x{.b = 1 + i % 2, .n = 5 + 37 * (i % 5), .h = 1 + i % 3, .past = i % 4};
  x.type = i % 3 ? dtype::bf16 : dtype::fp16;
  x.states = i % 2 == 0;
  return x;
}

TEST_CASE("hedgehog gives the same bits thirty times") {
  run_repeats<hedgehog_operands>(many_tokens());
}
TEST_CASE("hedgehog's backward gives the same bits thirty times") {
  auto all = many_tokens();
  if (test_level() == level::quick) all.erase(all.begin() + 1, all.end());
  run_repeats<hedgehog_gradients>(all);
}
TEST_CASE("hedgehog from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_tokens);
}

TEST_CASE("hedgehog's backward from many threads at once") {
  run_from_threads(test_level() == level::quick ? 2 : 10,
                   [](int i) { return hedgehog_gradient_case(few_tokens(i)); });
}

}  // namespace
}  // namespace tk::test
