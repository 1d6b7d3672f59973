// SPDX-License-Identifier: MIT
// timeout: 600
// tk_activation on rows that lie in memory in every way the interface allows: slices, halves,
// strides and addresses that no vector load or bulk copy takes, negative and zero strides; in
// place.
#include "tests/ops/activation/activation.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr layout_of<activation_case> operands[] = {
    &activation_case::a_layout, &activation_case::b_layout, &activation_case::y_layout};

activation_case begin(std::size_t turn) {
  activation_case x{.shape = shape_of_turn(turn)};
  x.type = row_types[turn / 2 % 3];
  x.kind = activation_kinds[turn % 6];
  return x;
}

std::vector<activation_case> shared() {
  std::vector<activation_case> cases;
  add_layouts<activation_case>(cases, std::span(operands).first<2>(), shared_layouts(), begin);
  return cases;
}
std::vector<activation_case> halves() {
  std::vector<activation_case> cases;
  add_layouts<activation_case>(cases, std::span(operands).first<1>(), row_layouts(), begin);
  for (auto& x : cases) x.packed = true;
  return cases;
}

std::vector<activation_case> pairs() {
  using c = activation_case;
  constexpr layout_of<c> of_pairs[] = {&c::a_layout, &c::y_layout};
  auto const make = [](std::size_t turn) {
    auto x = begin(turn);
    x.type = row_types[turn / 2 % 2];
    x.interleaved = true;
    return x;
  };
  auto cases = layout_table(of_pairs, make);
  add_layouts<c>(cases, std::span(of_pairs).first<1>(), shared_layouts(), make);
  return cases;
}

// y on a and on b, in rows of one tile and of several, of every rank.
std::vector<activation_case> in_place() {
  std::vector<activation_case> cases;
  for (std::int64_t const width : widths_in_place)
    for (auto const& way : places_for_two())
      for (auto const place : {row_place::on_first, row_place::on_second})
        for (int i = 0; i < 3; ++i) {
          auto x = begin(7 * cases.size());
          x.shape.width = width;
          x.y_place = place;
          x.a_layout = x.b_layout = way;
          x.packed = i == 1;
          if (i == 2 && place == row_place::on_first) x.gated = false;
          cases.push_back(x);
        }
  return cases;
}

TEST_CASE("activation with odd layouts") { run_table("layouts", layout_table(operands, begin)); }
TEST_CASE("activation of rows that lie on each other") { run_table("shared", shared()); }
TEST_CASE("activation of halves") { run_table("halves", halves()); }
TEST_CASE("activation of pairs") { run_table("pairs", pairs()); }
TEST_CASE("activation in place") { run_table("in place", in_place()); }
TEST_CASE("activation on far rows") {
  if (test_level() == level::card) run_table("far rows", far_table(operands, begin));
}

}  // namespace
}  // namespace tk::test
