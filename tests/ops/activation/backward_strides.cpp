// SPDX-License-Identifier: MIT
// timeout: 600
// tk_activation_backward on rows that lie in memory in every way the interface allows: slices,
// halves, strides and addresses that no vector load or bulk copy takes, negative and zero strides;
// in place.
#include "tests/ops/activation/activation_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

using test_case = activation_backward_case;
constexpr layout_of<test_case> operands[] = {&test_case::a_layout, &test_case::b_layout,
                                             &test_case::dy_layout, &test_case::da_layout,
                                             &test_case::db_layout};

test_case begin(std::size_t turn) {
  test_case x{.shape = shape_of_turn(turn)};
  x.type = row_types[turn / 2 % 3];
  x.kind = activation_kinds[turn % 6];
  return x;
}

std::vector<test_case> shared() {
  std::vector<test_case> cases;
  add_layouts<test_case>(cases, std::span(operands).first<3>(), shared_layouts(), begin);
  return cases;
}

// And da on a.
std::vector<test_case> pairs() {
  constexpr layout_of<test_case> of_pairs[] = {&test_case::a_layout, &test_case::dy_layout,
                                               &test_case::da_layout};
  auto const make = [](std::size_t turn) {
    auto x = begin(turn);
    x.type = row_types[turn / 2 % 2];
    x.interleaved = true;
    return x;
  };
  auto cases = layout_table(of_pairs, make);
  add_layouts<test_case>(cases, std::span(of_pairs).first<2>(), shared_layouts(), make);
  for (std::int64_t const width : widths_in_place)
    for (auto const& way : places_for_two()) {
      auto x = make(7 * cases.size());
      x.shape.width = width;
      x.da_place = gradient_place::on_a;
      x.a_layout = way;
      cases.push_back(x);
    }
  return cases;
}

// da and db on any two of a, b and dy, or apart, in rows of one tile and of several.
std::vector<test_case> in_place() {
  std::vector<test_case> cases;
  using enum gradient_place;
  constexpr gradient_place places[] = {apart, on_a, on_b, on_dy};
  for (auto const da : places)
    for (auto const db : places)
      for (std::int64_t const width : widths_in_place)
        for (auto const& way : places_for_two()) {
          if (da == db) continue;
          auto x = begin(7 * cases.size());
          x.shape.width = width;
          x.da_place = da, x.db_place = db;
          x.a_layout = x.b_layout = x.dy_layout = way;
          x.packed = cases.size() % 2;
          cases.push_back(x);
        }
  // Without b, da on dy and on a.
  for (std::int64_t const width : widths_in_place)
    for (auto const place : {on_a, on_dy}) {
      auto x = begin(cases.size());
      x.shape.width = width;
      x.gated = false;
      x.da_place = place;
      cases.push_back(x);
    }
  return cases;
}

TEST_CASE("activation's backward with odd layouts") {
  run_table("backward_layouts", layout_table(operands, begin));
}
TEST_CASE("activation's backward of rows that lie on each other") {
  run_table("backward_shared", shared());
}
TEST_CASE("activation's backward of pairs") { run_table("backward_pairs", pairs()); }
TEST_CASE("activation's backward in place") { run_table("backward_in_place", in_place()); }
TEST_CASE("activation's backward on far rows") {
  if (test_level() == level::card) run_table("backward_far_rows", far_table(operands, begin));
}

}  // namespace
}  // namespace tk::test
