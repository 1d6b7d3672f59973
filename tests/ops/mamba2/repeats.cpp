// SPDX-License-Identifier: MIT
// timeout: 600
// Mamba-2's scan and its backward thirty times on the same inputs, equal bit for bit, and from many
// threads at once.
#include "tests/support/repeats.hpp"

#include "tests/ops/mamba2/backward_oracle.hpp"
#include "tests/ops/mamba2/size_cases.hpp"

namespace tk::test {
namespace {

// One is cut, and one has more heads than a task of the backward.
std::vector<mamba2_case> many_tokens() {
  std::vector<mamba2_case> all{{.n = 70, .h = 2},
                               {.n = 33, .p = 64, .s = 128},
                               {.h = 2, .g = 2, .p = 16, .s = 32, .lengths = {33, 0, 1, 70}},
                               {.n = cut_length(), .p = 16, .s = 16},
                               {.n = 20, .h = 34, .p = 16, .s = 16}};
  for (int i = 0; i < 5; ++i) set_kind(all[static_cast<std::size_t>(i)], 3 + 4 * i);
  return all;
}
template <class Operands> directed<Operands> few_tokens(int i) {
  mamba2_case x{.b = 1 + i % 2, .n = 5 + 17 * (i % 5), .h = 1 + i % 3};
  x.p = 16 * (1 + i % 5), x.s = 16 * (1 + i % 4);
  x.g = i % 2 ? x.h : 1;
  set_kind(x, i);
  return x;
}

TEST_CASE("mamba2 gives the same bits thirty times") {
  run_repeats<mamba2_operands>(many_tokens());
}
TEST_CASE("mamba2's backward gives the same bits thirty times") {
  run_repeats<mamba2_backward_operands>(many_tokens());
}
TEST_CASE("mamba2 from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_tokens<mamba2_operands>);
}
TEST_CASE("mamba2's backward from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_tokens<mamba2_backward_operands>);
}

}  // namespace
}  // namespace tk::test
