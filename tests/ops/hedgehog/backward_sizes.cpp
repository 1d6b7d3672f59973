// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_hedgehog_backward at the sizes of sizes.txt, packed, with lengths, and with strides.
#include "tests/ops/hedgehog/backward_oracle.hpp"
#include "tests/ops/hedgehog/size_cases.hpp"

namespace tk::test {
namespace {

// On emulated chips the smaller ones; the forward's have all.
TEST_CASE("hedgehog's backward at every size") {
  auto cases = size_cases();
  if (test_level() == level::quick)
    std::erase_if(cases,
                  [](hedgehog_case const& x) { return x.n > 320 || x.n * x.b * x.h > 2000; });
  run_table("sizes", gradients_of(cases));
}
TEST_CASE("hedgehog's backward over packed sequences") {
  run_table("packed", gradients_of(packed_cases()));
}
TEST_CASE("hedgehog's backward over sequences of different lengths") {
  run_table("lengths", gradients_of(length_cases()));
}
TEST_CASE("hedgehog's backward with strides") {
  run_table("strides", gradients_of(stride_cases()));
}

}  // namespace
}  // namespace tk::test
