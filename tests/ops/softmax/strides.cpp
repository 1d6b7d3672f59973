// SPDX-License-Identifier: MIT
// timeout: 600
// tk_softmax on rows that lie in memory in every way the interface allows: slices, strides and
// addresses that no vector load or bulk copy takes, negative and zero strides; in place.
#include "tests/ops/softmax/softmax.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr layout_of<softmax_case> operands[] = {&softmax_case::x_layout, &softmax_case::bias_layout,
                                                &softmax_case::y_layout};

softmax_case begin(std::size_t turn) {
  softmax_case x{.shape = shape_of_turn(turn)};
  x.type = row_types[turn / 2 % 3];
  x.mask = turn % 4 == 1 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  x.bias = turn % 3 ? bias_use::same_type : bias_use::fp32;
  x.broadcast = static_cast<int>(turn % 8);
  return x;
}

// Under a mask what one row does not see would be what another does.
std::vector<softmax_case> shared() {
  std::vector<softmax_case> cases;
  add_layouts<softmax_case>(cases, std::span(operands).first<2>(), shared_layouts(), begin);
  for (auto& x : cases) x.mask = TK_MASK_NONE;
  return cases;
}

constexpr layout_of<softmax_case> masked_operands[] = {
    &softmax_case::x_layout, &softmax_case::mask_layout, &softmax_case::y_layout};
softmax_case begin_masked(std::size_t turn) {
  auto x = begin(turn);
  x.bool_mask = turn % 5 ? bool_mask_use::boolean : bool_mask_use::uint8;
  x.mask_broadcast = static_cast<int>(turn / 3 % 8);
  if (turn % 7 < 4) x.bias = bias_use::none;
  return x;
}
std::vector<softmax_case> shared_masks() {
  std::vector<softmax_case> cases;
  add_layouts<softmax_case>(cases, std::span(masked_operands).first<2>(), shared_layouts(),
                            begin_masked);
  for (auto& x : cases) x.mask = TK_MASK_NONE;
  return cases;
}

// y on x, in rows of one tile and of several, of every rank.
std::vector<softmax_case> in_place() {
  std::vector<softmax_case> cases;
  for (std::int64_t const width : widths_in_place)
    for (auto const& way : places_for_two())
      for (int i = 0; i < 4; ++i) {
        auto x = begin(7 * cases.size());
        x.shape.width = width;
        x.y_place = row_place::on_first;
        x.x_layout = way;
        if (i % 2) x.bias = bias_use::none;
        if (i > 1) x.bool_mask = bool_mask_use::boolean;
        cases.push_back(x);
      }
  return cases;
}

TEST_CASE("softmax with odd layouts") { run_table("layouts", layout_table(operands, begin)); }
TEST_CASE("softmax of rows that lie on each other") { run_table("shared", shared()); }
TEST_CASE("softmax with a boolean mask, with odd layouts") {
  run_table("masked layouts", layout_table(masked_operands, begin_masked));
}
TEST_CASE("softmax with a boolean mask, of rows that lie on each other") {
  run_table("shared masks", shared_masks());
}
TEST_CASE("softmax in place") { run_table("in place", in_place()); }
TEST_CASE("softmax on far rows") {
  if (test_level() != level::card) return;
  run_table("far rows", far_table(operands, begin));
  run_table("far masks", far_table(masked_operands, begin_masked));
}

}  // namespace
}  // namespace tk::test
