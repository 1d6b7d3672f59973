// SPDX-License-Identifier: MIT
// timeout: 600
// tk_norm_backward on rows that lie in memory in every way the interface allows: slices, strides
// and addresses that no vector load or bulk copy takes, negative and zero strides; in place.
#include "tests/ops/norm/backward_oracle.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

using test_case = norm_backward_case;
constexpr layout_of<test_case> operands[] = {&test_case::r_layout, &test_case::dy_layout,
                                             &test_case::dr_layout, &test_case::dx_layout};

test_case begin(std::size_t turn) {
  test_case x{.shape = shape_of_turn(turn)};
  x.kind = turn % 2 ? TK_NORM_RMS : TK_NORM_LAYER;
  x.type = row_types[turn / 2 % 3];
  x.dr = true;
  x.weight_type = turn % 5 ? column_type::of_rows : column_type::fp32;
  x.sums_type = turn % 3 ? column_type::of_rows : column_type::fp32;
  x.weight_misalignment = static_cast<int>(turn % 4);
  x.dweight_misalignment = static_cast<int>(turn / 2 % 4);
  x.dbias_misalignment = static_cast<int>(turn / 3 % 4);
  return x;
}

std::vector<test_case> shared() {
  std::vector<test_case> cases;
  add_layouts<test_case>(cases, std::span(operands).first<3>(), shared_layouts(), begin);
  return cases;
}

// dx on r, dy and dr, in rows of one tile and of several.
std::vector<test_case> in_place() {
  std::vector<test_case> cases;
  using enum dx_place;
  for (auto const place : {on_r, on_dy, on_dr})
    for (std::int64_t const width : widths_in_place)
      for (auto const& way : places_for_two())
        for (bool const dr : {true, false}) {
          if (!dr && place == on_dr) continue;
          auto x = begin(7 * cases.size());
          x.shape.width = width;
          x.dr = dr;
          x.place = place;
          x.r_layout = x.dy_layout = x.dr_layout = way;
          cases.push_back(x);
        }
  return cases;
}

TEST_CASE("norm's backward with odd layouts") {
  run_table("backward_layouts", layout_table(operands, begin));
}
TEST_CASE("norm's backward of rows that lie on each other") {
  run_table("backward_shared", shared());
}
TEST_CASE("norm's backward in place") { run_table("backward_in_place", in_place()); }
TEST_CASE("norm's backward on far rows") {
  if (test_level() == level::card) run_table("backward_far_rows", far_table(operands, begin));
}

}  // namespace
}  // namespace tk::test
