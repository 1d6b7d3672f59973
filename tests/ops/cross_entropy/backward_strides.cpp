// SPDX-License-Identifier: MIT
// timeout: 600
// tk_cross_entropy_backward on rows that lie in memory in every way the interface allows: slices,
// strides and addresses that no vector load or bulk copy takes, negative and zero strides; in
// place.
#include "tests/ops/cross_entropy/cross_entropy_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

using test_case = cross_entropy_backward_case;
constexpr layout_of<test_case> operands[] = {&test_case::x_layout, &test_case::labels_layout,
                                             &test_case::lse_layout, &test_case::dloss_layout,
                                             &test_case::dx_layout};

test_case begin(std::size_t turn) {
  test_case x{.shape = shape_of_turn(turn)};
  x.type = row_types[turn / 2 % 3];
  x.label_type = turn % 3 ? dtype::int64 : dtype::int32;
  x.smoothing = turn % 4 == 1 ? 0.1f : 0;
  return x;
}

// And one dloss for all rows.
std::vector<test_case> shared() {
  std::vector<test_case> cases;
  add_layouts<test_case>(cases, std::span(operands).first<4>(), shared_layouts(), begin);
  for (std::size_t i = 0; i < 8; ++i) {
    cases.push_back(begin(i));
    cases.back().dloss_layout = {.row_stride = 0, .batch = matrix_layout::batches::same};
  }
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
        x.softcap = i % 2 ? 3 : 0;
        cases.push_back(x);
      }
  return cases;
}

TEST_CASE("cross_entropy's backward with odd layouts") {
  run_table("backward_layouts", layout_table(operands, begin));
}
TEST_CASE("cross_entropy's backward of rows that lie on each other") {
  run_table("backward_shared", shared());
}
TEST_CASE("cross_entropy's backward in place") { run_table("backward_in_place", in_place()); }
TEST_CASE("cross_entropy's backward on far rows") {
  if (test_level() == level::card) run_table("backward_far_rows", far_table(operands, begin));
}

}  // namespace
}  // namespace tk::test
