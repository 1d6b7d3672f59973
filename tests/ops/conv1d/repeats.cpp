// SPDX-License-Identifier: MIT
// timeout: 600
// conv1d and its backward thirty times on the same inputs, equal bit for bit, and from many threads
// at once.
#include "tests/support/repeats.hpp"

#include "tests/ops/conv1d/conv1d.hpp"
#include "tests/ops/conv1d/conv1d_backward.hpp"
#include "tests/ops/conv1d/kinds.hpp"

namespace tk::test {
namespace {

// Runs of every length, states in place, packed sequences.
template <class Case> std::vector<Case> many_tokens() {
  std::vector<Case> all;
  row_shape const shapes[] = {{.rank = 3, .h = 2, .rows = 1, .width = 300},
                              {.rank = 3, .h = 3, .rows = 70, .width = 65},
                              {.rank = 2, .rows = 200, .width = 1030},
                              {.rank = 2, .rows = 50, .width = 136}};
  for (int i = 0; i < 4; ++i) {
    Case x;
    set_kind(x, shapes[i], 3 + 7 * i);
    x.initial = true;
    if constexpr (requires { x.in_place; }) x.in_place = i % 2 == 0;
    if (i == 3) x.starts = {2, 2, 30, 49};
    all.push_back(x);
  }
  return all;
}

template <class Case> Case few_tokens(int i) {
  Case x;
  set_kind(x, {.rank = 3, .h = 1 + i % 3, .rows = 5 + 7 * (i % 5), .width = 30 + 61 * (i % 9)},
           i % kinds);
  return x;
}

TEST_CASE("conv1d gives the same bits thirty times") {
  run_repeats<conv1d_operands>(many_tokens<conv1d_case>());
}
TEST_CASE("conv1d's backward gives the same bits thirty times") {
  run_repeats<conv1d_backward_operands>(many_tokens<conv1d_backward_case>());
}
TEST_CASE("conv1d from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_tokens<conv1d_case>);
}
TEST_CASE("conv1d's backward from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_tokens<conv1d_backward_case>);
}

}  // namespace
}  // namespace tk::test
