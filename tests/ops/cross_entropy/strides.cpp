// SPDX-License-Identifier: MIT
// timeout: 600
// tk_cross_entropy on rows that lie in memory in every way the interface allows: slices, strides
// and addresses that no vector load or bulk copy takes, negative and zero strides; in place.
#include "tests/ops/cross_entropy/cross_entropy.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

using test_case = cross_entropy_case;
constexpr layout_of<test_case> operands[] = {&test_case::x_layout, &test_case::labels_layout,
                                             &test_case::loss_layout, &test_case::lse_layout,
                                             &test_case::dx_layout};

test_case begin(std::size_t turn) {
  test_case x{.shape = shape_of_turn(turn)};
  x.type = row_types[turn / 2 % 3];
  x.label_type = turn % 3 ? dtype::int64 : dtype::int32;
  x.smoothing = turn % 4 == 1 ? 0.1f : 0;
  x.store_lse = x.store_dx = true;
  return x;
}

std::vector<test_case> shared() {
  std::vector<test_case> cases;
  add_layouts<test_case>(cases, std::span(operands).first<2>(), shared_layouts(), begin);
  return cases;
}

// dx on x, in rows of one tile and of several, of every rank.
std::vector<test_case> in_place() {
  std::vector<test_case> cases;
  for (std::int64_t const width : widths_in_place)
    for (auto const& way : places_for_two())
      for (int i = 0; i < 4; ++i) {
        auto x = begin(7 * cases.size());
        x.shape.width = width;
        x.dx_place = row_place::on_first;
        x.x_layout = way;
        x.store_lse = i % 2;
        x.softcap = i / 2 ? 3 : 0;
        cases.push_back(x);
      }
  return cases;
}

TEST_CASE("cross_entropy with odd layouts") { run_table("layouts", layout_table(operands, begin)); }
TEST_CASE("cross_entropy of rows that lie on each other") { run_table("shared", shared()); }
TEST_CASE("cross_entropy in place") { run_table("in place", in_place()); }
TEST_CASE("cross_entropy on far rows") {
  if (test_level() == level::card) run_table("far rows", far_table(operands, begin));
}

}  // namespace
}  // namespace tk::test
