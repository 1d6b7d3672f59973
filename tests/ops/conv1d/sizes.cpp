// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_conv1d at the sizes of sizes.txt: all types, taps and activations, with states and without,
// moved in place; packed sequences; special values.
#include "tests/ops/conv1d/conv1d.hpp"
#include "tests/ops/conv1d/kinds.hpp"

namespace tk::test {
namespace {

conv1d_case of_kind(row_shape const& shape, int kind) {
  conv1d_case x;
  set_kind(x, shape, kind);
  auto const turn = kind + shape.all_rows() + shape.width;
  x.final = turn % 4 != 1;
  x.in_place = x.final && x.initial && turn % 3 == 0;
  return x;
}

TEST_CASE("conv1d at every size") { run_table("sizes", size_table("conv1d", kinds, of_kind)); }
TEST_CASE("conv1d of packed sequences") { run_table("packed", packed_table(of_kind)); }

TEST_CASE("NaN and infinity reach their token and the ones after it, in their channel") {
  int turn = 0;
  for (std::int64_t const width : {5, 130, 1024})
    for (double const special : {std::nan(""), HUGE_VAL, -HUGE_VAL})
      for (std::int64_t const row : {0, 6, 15, 19, 39}) {
        auto c = of_kind({.rank = 3, .h = 2, .rows = 20, .width = width}, ++turn);
        check_special(c, &conv1d_operands::x, special, row, width / 3);
      }
}

TEST_CASE("the table of sizes holds every kind and tail") {
  check_kinds(size_table("conv1d", kinds, of_kind));
}

// Whatever the offsets, only elements of outputs are written.
TEST_CASE("wrong offsets touch nothing outside") {
  for (auto const& starts : wrong_starts()) {
    auto c = of_kind({.rank = 3, .h = 1, .rows = 90, .width = 65}, 7);
    c.starts = {0, 0, 0, 0};
    c.in_place = false, c.initial = c.final = true;
    conv1d_operands x(c);
    check_wrong_starts(x, starts, written_by(x));
  }
}

}  // namespace
}  // namespace tk::test
