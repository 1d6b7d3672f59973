// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_based_backward at the sizes of sizes.txt, packed, and with strides.
#include "tests/ops/based/backward.hpp"
#include "tests/ops/based/size_cases.hpp"

namespace tk::test {
namespace {

// Those that it takes; quick: one of every `step`.
std::vector<based_case> some(std::vector<based_case> const& cases, std::size_t step) {
  if (test_level() != level::quick) step = 1;
  std::vector<based_case> few;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if ((i + i / step) % step == 0) few.push_back(cases[i]);
  return few;
}

TEST_CASE("Based's backward at every size") {
  run_table("sizes", in_direction<backward_operands>(some(size_cases(), 2)));
}
TEST_CASE("Based's backward over packed sequences") {
  run_table("packed", in_direction<backward_operands>(some(packed_cases(), 1)));
}
TEST_CASE("Based's backward with strides") {
  run_table("strides", in_direction<backward_operands>(some(stride_cases(), 3)));
}

}  // namespace
}  // namespace tk::test
