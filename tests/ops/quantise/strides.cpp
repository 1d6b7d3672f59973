// SPDX-License-Identifier: MIT
// timeout: 600
// tk_quantise on rows that lie in memory in every way the interface allows: slices, strides and
// addresses that no vector load or store takes, negative and zero strides.
#include "tests/ops/quantise/quantise.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr layout_of<quantise_case> operands[] = {&quantise_case::x_layout, &quantise_case::y_layout,
                                                 &quantise_case::scale_layout};

quantise_case begin(std::size_t turn) {
  return quantise_of_kind(shape_of_turn(turn), static_cast<int>(7 * turn % quantise_kinds));
}

std::vector<quantise_case> shared() {
  std::vector<quantise_case> cases;
  add_layouts<quantise_case>(cases, std::span(operands).first<1>(), shared_layouts(), begin);
  return cases;
}

TEST_CASE("quantise with odd layouts") { run_table("layouts", layout_table(operands, begin)); }
TEST_CASE("quantise of rows that lie on each other") { run_table("shared", shared()); }
TEST_CASE("quantise on far rows") {
  if (test_level() == level::card) run_table("far rows", far_table(operands, begin));
}

}  // namespace
}  // namespace tk::test
