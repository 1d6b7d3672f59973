// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_linear_attention_backward at the sizes of sizes.txt, packed, and with strides.
#include "tests/ops/linear_attention/size_cases.hpp"

namespace tk::test {
namespace {

TEST_CASE("linear attention's backward at every size") {
  run_table("sizes", in_direction<backward_operands>(size_cases()));
}
TEST_CASE("linear attention's backward over packed sequences") {
  run_table("packed", in_direction<backward_operands>(packed_cases()));
}
TEST_CASE("linear attention's backward with strides") {
  run_table("strides", in_direction<backward_operands>(stride_cases()));
}

}  // namespace
}  // namespace tk::test
