// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_fft_conv_backward at the sizes of sizes.txt, and with strides.

#include "tests/ops/fft_conv/size_cases.hpp"

namespace tk::test {
namespace {

TEST_CASE("gradients of long convolutions at every size") {
  run_table("sizes", in_direction<conv_backward_operands>(size_cases()));
}
TEST_CASE("gradients of long convolutions with strides") {
  run_table("strides", in_direction<conv_backward_operands>(stride_cases()));
}
TEST_CASE("gradients of circular convolutions of whole blocks") {
  run_table("whole blocks", in_direction<conv_backward_operands>(whole_cases()));
}

}  // namespace
}  // namespace tk::test
