// SPDX-License-Identifier: MIT
// timeout: 600
// tk_transpose on matrices that lie in memory in every way the interface allows: slices, strides
// and addresses that no vector access takes, negative and zero strides.
#include "tests/ops/transpose/transpose.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr layout_of<transpose_case> operands[] = {&transpose_case::x_layout,
                                                  &transpose_case::y_layout};

transpose_case begin(std::size_t turn) {
  constexpr std::int64_t rows[] = {70, 64, 131, 5, 128, 33}, widths[] = {65, 136, 40, 200, 3};
  auto x = transpose_of(
      {.rank = 2 + static_cast<int>(turn % 3), .rows = rows[turn % 6], .width = widths[turn % 5]});
  if (x.shape.rank > 2) x.shape.h = 3;
  if (x.shape.rank > 3) x.shape.b = 2;
  x.type = moved_types[turn / 2 % 5];
  return x;
}

std::vector<transpose_case> shared() {
  std::vector<transpose_case> cases;
  add_layouts<transpose_case>(cases, std::span(operands).first<1>(), shared_layouts(), begin);
  for (auto& x : cases)  // elements of one place are one number
    if (is_integer(x.type)) x.type = dtype::fp32;
  return cases;
}

TEST_CASE("transpose with odd layouts") { run_table("layouts", layout_table(operands, begin)); }
TEST_CASE("transpose of rows that lie on each other") { run_table("shared", shared()); }
TEST_CASE("transpose on far rows") {
  if (test_level() == level::card) run_table("far rows", far_table(operands, begin));
}

}  // namespace
}  // namespace tk::test
