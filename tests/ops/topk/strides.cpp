// SPDX-License-Identifier: MIT
// timeout: 600
// tk_topk on rows that lie in memory in every way the interface allows: slices, strides and
// addresses that no vector load takes, negative and zero strides.
#include "tests/ops/topk/topk.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr layout_of<topk_case> operands[] = {&topk_case::x_layout, &topk_case::values_layout,
                                             &topk_case::indices_layout};

topk_case begin(std::size_t turn) {
  constexpr std::int64_t ks[] = {1, 3, 8, 17, 12};
  topk_case x{.shape = shape_of_turn(turn)};
  x.k = ks[turn % 5];
  x.type = row_types[turn / 2 % 3];
  x.index_type = turn % 3 ? dtype::int32 : dtype::int64;
  x.smallest = turn % 4 == 1;
  x.of = static_cast<contents>(turn / 3 % all_contents);
  return x;
}

std::vector<topk_case> shared() {
  std::vector<topk_case> cases;
  add_layouts<topk_case>(cases, std::span(operands).first<1>(), shared_layouts(), begin);
  return cases;
}

TEST_CASE("topk with odd layouts") { run_table("layouts", layout_table(operands, begin)); }
TEST_CASE("topk of rows that lie on each other") { run_table("shared", shared()); }
TEST_CASE("topk on far rows") {
  if (test_level() == level::card) run_table("far rows", far_table(operands, begin));
}

}  // namespace
}  // namespace tk::test
