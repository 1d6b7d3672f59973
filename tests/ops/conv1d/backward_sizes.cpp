// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_conv1d_backward at the sizes of sizes.txt: all types, taps and activations, with states and
// without; packed sequences; special values.
#include "tests/ops/conv1d/conv1d_backward.hpp"
#include "tests/ops/conv1d/kinds.hpp"

namespace tk::test {
namespace {

conv1d_backward_case of_kind(row_shape const& shape, int kind) {
  conv1d_backward_case x;
  set_kind(x, shape, kind);
  auto const turn = kind + shape.all_rows() + shape.width;
  x.dfinal = turn % 4 != 1;
  x.dinitial = turn % 7 != 3;
  x.dweight = turn % 5 != 1;
  x.dbias = turn % 6 != 5;
  x.sums_type = turn % 2 ? x.type : dtype::fp32;
  return x;
}

std::vector<conv1d_backward_case> table() {
  auto cases = size_table("conv1d", kinds, of_kind);
  std::erase_if(cases, [](auto const& x) { return x.shape.all_rows() * x.shape.width > 1 << 25; });
  return cases;
}

TEST_CASE("conv1d's backward at every size") { run_table("sizes", table()); }
TEST_CASE("conv1d's backward of packed sequences") { run_table("packed", packed_table(of_kind)); }

TEST_CASE("NaN and infinity of the backward reach what the formulas say") {
  int turn = 0;
  for (std::int64_t const width : {5, 130, 1024})
    for (double const special : {std::nan(""), HUGE_VAL, -HUGE_VAL})
      for (std::int64_t const row : {0, 6, 15, 19, 39}) {
        auto c = of_kind({.rank = 3, .h = 2, .rows = 20, .width = width}, ++turn);
        check_special(c, &conv1d_backward_operands::x, special, row, width / 3);
        check_special(c, &conv1d_backward_operands::dy, special, row, width / 3);
      }
}

// Where there is no token, the state's gradient is that of the final state, whatever it holds.
TEST_CASE("NaN in the state of a sequence without tokens stays there") {
  for (int kind = 15; kind < kinds; ++kind) {
    auto c = of_kind({.rank = 3, .h = 2, .rows = 0, .width = 130}, kind);
    c.initial = c.dfinal = c.dinitial = true;
    check_special(c, &conv1d_backward_operands::initial, std::nan(""), 1, 77);
  }
}

TEST_CASE("the table of sizes holds every kind and tail") { check_kinds(table()); }

TEST_CASE("wrong offsets touch nothing outside") {
  for (auto const& starts : wrong_starts()) {
    auto c = of_kind({.rank = 3, .h = 1, .rows = 90, .width = 65}, 7);
    c.starts = {0, 0, 0, 0};
    c.initial = c.dfinal = c.dinitial = c.dweight = c.dbias = true;
    conv1d_backward_operands x(c);
    check_wrong_starts(x, starts, written_by(x));
  }
}

}  // namespace
}  // namespace tk::test
