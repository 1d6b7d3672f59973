// SPDX-License-Identifier: MIT
// timeout: 600
// tk_norm on rows that lie in memory in every way the interface allows: slices, strides and
// addresses that no vector load or bulk copy takes, negative and zero strides; in place.
#include "tests/ops/norm/norm.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr layout_of<norm_case> inputs[] = {&norm_case::x_layout, &norm_case::residual_layout};
constexpr layout_of<norm_case> operands[] = {&norm_case::x_layout, &norm_case::residual_layout,
                                             &norm_case::y_layout, &norm_case::r_layout};

norm_case begin(std::size_t turn) {
  norm_case x{.shape = shape_of_turn(turn)};
  x.kind = turn % 2 ? TK_NORM_RMS : TK_NORM_LAYER;
  x.type = row_types[turn / 2 % 3];
  x.residual = x.store_r = true;
  x.weight_misalignment = static_cast<int>(turn % 4);
  x.bias_misalignment = static_cast<int>(turn / 2 % 4);
  return x;
}

std::vector<norm_case> all_layouts() {
  auto cases = layout_table(operands, begin);
  add_layouts<norm_case>(cases, inputs, shared_layouts(), begin);
  return cases;
}

// y and r on x and on residual, in either order, in rows of one tile and of several.
std::vector<norm_case> in_place() {
  std::vector<norm_case> cases;
  std::size_t turn = 0;
  using enum row_place;
  constexpr row_place pairs[][2] = {{on_first, apart},  {on_first, on_second},
                                    {apart, on_second}, {on_second, on_first},
                                    {apart, on_first},  {on_second, apart}};
  for (auto const& [y, r] : pairs)
    for (std::int64_t const width : widths_in_place)
      for (auto const& way : places_for_two()) {
        auto x = begin(turn++);
        x.shape.width = width;
        x.y_place = y, x.r_place = r;
        x.x_layout = x.residual_layout = way;
        cases.push_back(x);
      }
  // Without a residual, y on x.
  for (std::int64_t const width : {64, 1000, 16384}) {
    auto x = begin(turn++);
    x.shape.width = width;
    x.residual = x.store_r = false;
    x.y_place = on_first;
    cases.push_back(x);
  }
  return cases;
}

// q of a packed projection [b, n, 3, heads, d]: as it lies, and with its heads before its tokens;
// beside rows that lie together, and in place.
std::vector<norm_case> packed() {
  std::vector<norm_case> cases;
  for (std::int64_t const d : {64, 100, 128, 8193})
    for (bool const heads_first : {false, true})
      for (bool const in_place : {false, true})
        for (int const which : {1, 2, 3}) {  // x, residual or both
          auto x = begin(cases.size());
          x.shape = {.rank = 4, .b = 2, .h = 7, .rows = 3, .width = d};
          matrix_layout part{.parts = 3};
          if (heads_first) {
            x.shape.h = 3, x.shape.rows = 7;
            part.batch = matrix_layout::batches::interleaved;
          }
          if (which != 2) x.x_layout = part;
          if (which != 1) x.residual_layout = part;
          else x.residual = x.store_r = false;
          if (in_place) x.y_place = row_place::on_first;
          else if (which == 3) x.y_layout = x.r_layout = part;
          cases.push_back(x);
        }
  return cases;
}

TEST_CASE("norm with odd layouts") { run_table("layouts", all_layouts()); }
TEST_CASE("norm of a part of a packed projection") { run_table("packed", packed()); }
TEST_CASE("norm in place") { run_table("in place", in_place()); }
TEST_CASE("norm on far rows") {
  if (test_level() == level::card) run_table("far rows", far_table(operands, begin));
}

}  // namespace
}  // namespace tk::test
