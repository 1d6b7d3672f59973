// SPDX-License-Identifier: MIT
// timeout: 600
// tk_conv1d on tokens, states and weights that lie in memory in every way the interface allows:
// slices, strides and addresses that no vector load takes, negative and zero strides; states in
// place.
#include "tests/ops/conv1d/conv1d.hpp"
#include "tests/ops/conv1d/kinds.hpp"

namespace tk::test {
namespace {

constexpr layout_of<conv1d_case> operands[] = {
    static_cast<layout_of<conv1d_case>>(&conv1d_case::x_layout),
    static_cast<layout_of<conv1d_case>>(&conv1d_case::initial_layout), &conv1d_case::y_layout,
    &conv1d_case::final_layout};

conv1d_case begin(std::size_t turn) {
  conv1d_case x;
  set_kind(x, shape_of_turn(turn), static_cast<int>(7 * turn % kinds));
  x.initial = true;
  x.weight_misalignment = turn % 3 == 1;
  x.bias_misalignment = turn % 5 == 2;
  return x;
}

std::vector<conv1d_case> in_place() {
  std::vector<conv1d_case> cases;
  for (std::int64_t const width : widths_in_place)
    for (std::int64_t const rows : {1, 2, 3, 17, 40})
      for (auto const& way : places_for_two()) {
        auto x = begin(cases.size());
        x.shape = {.rank = 3, .h = 2, .rows = rows, .width = width};
        x.in_place = true;
        x.initial_layout = way;
        cases.push_back(x);
      }
  return cases;
}

TEST_CASE("conv1d with odd layouts") { run_table("layouts", layout_table(operands, begin)); }
TEST_CASE("conv1d of tokens that lie on each other") {
  std::vector<conv1d_case> cases;
  std::vector<layout_of<conv1d_case>> const inputs{operands[0], operands[1]};
  add_layouts<conv1d_case>(cases, inputs, shared_layouts(), begin);
  run_table("shared", cases);
}
TEST_CASE("conv1d moves states on in their place") { run_table("in place", in_place()); }

}  // namespace
}  // namespace tk::test
