// SPDX-License-Identifier: MIT
// timeout: 600
// tk_add on rows that lie in memory in every way the interface allows: slices, strides and
// addresses that no vector load takes, negative and zero strides; in place.
#include "tests/ops/add/add.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr layout_of<add_case> operands[] = {&add_case::a_layout, &add_case::b_layout,
                                            &add_case::y_layout};

add_case begin(std::size_t turn) {
  add_case x{.shape = shape_of_turn(turn)};
  x.type = row_types[turn / 2 % 3];
  x.y_type = row_types[turn / 5 % 3];
  x.broadcast = static_cast<int>(turn % 8);
  x.has_b = turn % 4 != 3;
  x.alpha = turn % 3 ? 1.f : -0.7f;
  return x;
}

std::vector<add_case> shared() {
  std::vector<add_case> cases;
  add_layouts<add_case>(cases, std::span(operands).first<2>(), shared_layouts(), begin);
  return cases;
}

// y on a or b, in rows of one tile and of several, of every rank.
std::vector<add_case> in_place() {
  std::vector<add_case> cases;
  for (std::int64_t const width : widths_in_place)
    for (auto const& way : places_for_two())
      for (int i = 0; i < 4; ++i) {
        auto x = begin(7 * cases.size());
        x.shape.width = width;
        x.has_b = i > 0;
        if (i > 1) {
          x.place = row_place::on_second;
          x.broadcast = 0;
          x.b_layout = way;
        } else {
          x.place = row_place::on_first;
          x.y_type = x.type;
          x.a_layout = way;
        }
        cases.push_back(x);
      }
  return cases;
}

// Rows that become one, of which long ones are cut, all of them or those of some dimensions.
std::vector<add_case> joined() {
  using enum matrix_layout::batches;
  std::vector<add_case> cases;
  for (row_shape const& shape :
       {row_shape{.rank = 4, .b = 2, .h = 3, .rows = 41, .width = 211},
        row_shape{.rank = 3, .h = 3, .rows = 5000, .width = 1},
        row_shape{.rank = 4, .b = 3, .h = 1, .rows = 1, .width = 9001},
        row_shape{.rank = 2, .rows = 2, .width = 8193}, row_shape{.rank = 1, .width = 2048},
        row_shape{.rank = 4, .b = 2, .h = 2, .rows = 2, .width = 8300}})
    for (auto const batch : {dense, padded, interleaved})
      for (int i = 0; i < 6; ++i) {
        auto x = begin(cases.size());
        x.shape = shape;
        if (i % 2) x.broadcast = 0;
        x.a_layout.batch = batch;
        x.b_layout.misalignment = i == 4;
        if (i % 3) x.y_layout.batch = x.b_layout.batch = batch;
        cases.push_back(x);
      }
  return cases;
}

TEST_CASE("add with odd layouts") { run_table("layouts", layout_table(operands, begin)); }
TEST_CASE("add of rows that lie on each other") { run_table("shared", shared()); }
TEST_CASE("add in place") { run_table("in place", in_place()); }
TEST_CASE("add of rows that are one") { run_table("joined", joined()); }
TEST_CASE("add on far rows") {
  if (test_level() == level::card) run_table("far rows", far_table(operands, begin));
}

}  // namespace
}  // namespace tk::test
