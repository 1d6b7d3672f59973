// SPDX-License-Identifier: MIT
// timeout: 600
// tk_conv1d_backward on tokens, states and sums that lie in memory in every way the interface
// allows: slices, strides and addresses that no vector load takes, negative and zero strides.
#include "tests/ops/conv1d/conv1d_backward.hpp"
#include "tests/ops/conv1d/kinds.hpp"

namespace tk::test {
namespace {

using backward_case = conv1d_backward_case;
constexpr layout_of<backward_case> operands[] = {
    static_cast<layout_of<backward_case>>(&backward_case::x_layout),
    static_cast<layout_of<backward_case>>(&backward_case::initial_layout),
    &backward_case::dy_layout,
    &backward_case::dfinal_layout,
    &backward_case::dx_layout,
    &backward_case::dinitial_layout};

backward_case begin(std::size_t turn) {
  backward_case x;
  set_kind(x, shape_of_turn(turn), static_cast<int>(7 * turn % kinds));
  x.initial = true;
  x.sums_type = turn % 2 ? x.type : dtype::fp32;
  x.weight_misalignment = turn % 3 == 1;
  x.dweight_misalignment = turn % 5 == 2;
  return x;
}

TEST_CASE("conv1d's backward with odd layouts") {
  run_table("layouts", layout_table(operands, begin));
}
TEST_CASE("conv1d's backward of tokens that lie on each other") {
  std::vector<backward_case> cases;
  std::vector<layout_of<backward_case>> const inputs{operands[0], operands[1], operands[2],
                                                     operands[3]};
  add_layouts<backward_case>(cases, inputs, shared_layouts(), begin);
  run_table("shared", cases);
}

}  // namespace
}  // namespace tk::test
