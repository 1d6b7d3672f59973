// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_mamba2_backward at the sizes of sizes.txt, packed, and with strides.
#include "tests/ops/mamba2/backward_oracle.hpp"
#include "tests/ops/mamba2/size_cases.hpp"

namespace tk::test {
namespace {

TEST_CASE("mamba2's backward at every size") {
  run_table("sizes", in_direction<mamba2_backward_operands>(size_cases()));
}
TEST_CASE("mamba2's backward over packed sequences") {
  run_table("packed", in_direction<mamba2_backward_operands>(packed_cases()));
}
TEST_CASE("mamba2's backward with strides") {
  run_table("strides", in_direction<mamba2_backward_operands>(stride_cases()));
}

}  // namespace
}  // namespace tk::test
