// SPDX-License-Identifier: MIT
// timeout: 900
// tk_attention_backward with its options: every pair of them together, windows at every place
// around the sizes of tiles, rows that see nothing, dropout's replay, rows beside other rows.
#include "tests/ops/attention/backward_options_oracle.hpp"
#include "tests/ops/attention/option_cases.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

std::vector<backward_option_case> cases_of(std::vector<option_case> const& forward) {
  std::vector<backward_option_case> cases;
  for (auto x : forward) {
    auto const turn = cases.size();
    x.lse = true;
    cases.push_back({x, turn % 3 == 1, turn % 5 != 4});
  }
  return cases;
}

TEST_CASE("attention backward with every pair of options") {
  run_table("pairs", cases_of(option_pairs()));
}
TEST_CASE("attention backward in windows") { run_table("windows", cases_of(option_windows())); }
TEST_CASE("attention backward with options at their limits") {
  run_table("limits", cases_of(option_limits()));
}

}  // namespace
}  // namespace tk::test
