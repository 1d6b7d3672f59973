// SPDX-License-Identifier: MIT
// timeout: 600
// tk_rotary on heads and tables that lie in memory in every way the interface allows: heads before
// tokens, slices, strides and addresses that no vector load takes, negative and zero strides; in
// place.
#include "tests/ops/rotary/rotary.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr layout_of<rotary_case> operands[] = {&rotary_case::q_layout, &rotary_case::k_layout,
                                               &rotary_case::out_layout, &rotary_case::cos_layout,
                                               &rotary_case::sin_layout};

rotary_case begin(std::size_t turn) {
  constexpr std::int64_t widths[] = {64, 128, 96, 130, 17, 1032};
  auto shape = shape_of_turn(turn);
  shape.width = widths[turn % 6];
  if (shape.rank < 3) shape.h = 4;
  auto x = rotary_of(shape);
  x.type = row_types[turn / 2 % 3];
  x.table_type = turn % 3 ? dtype::fp32 : x.type;
  x.interleaved = turn / 3 % 2;
  x.tokens = static_cast<tokens_at>(turn / 5 % 3);
  x.has_k = true;
  if (turn % 5 == 4) x.w = shape.width / 4;
  return x;
}

std::vector<rotary_case> shared() {
  std::vector<rotary_case> cases;
  std::vector<layout_of<rotary_case>> const inputs{operands[0], operands[1], operands[3],
                                                   operands[4]};
  add_layouts<rotary_case>(cases, inputs, shared_layouts(), begin);
  return cases;
}

std::vector<rotary_case> in_place() {
  std::vector<rotary_case> cases;
  for (std::int64_t const width : {64, 65, 128, 256, 520, 8193})
    for (auto const& way : places_for_two())
      for (int i = 0; i < 4; ++i) {
        auto x = begin(7 * cases.size());
        x.shape.width = width;
        x.w = i % 2 ? width / 2 : width / 3;
        x.place = row_place::on_first;
        x.q_layout = x.k_layout = way;
        cases.push_back(x);
      }
  return cases;
}

TEST_CASE("rotary with odd layouts") { run_table("layouts", layout_table(operands, begin)); }
TEST_CASE("rotary of rows that lie on each other") { run_table("shared", shared()); }
TEST_CASE("rotary in place") { run_table("in place", in_place()); }

// Heads of q, then of k and of v, of one tensor.
TEST_CASE("rotary of slices of heads") {
  std::vector<rotary_case> cases;
  for (std::size_t turn = 0; turn < 12; ++turn) {
    auto x = begin(turn);
    x.q_layout = {.padding = 2 * static_cast<int>(x.shape.width)};
    x.k_layout = {.batch = matrix_layout::batches::interleaved};
    x.place = turn % 2 ? row_place::on_first : row_place::apart;
    cases.push_back(x);
  }
  run_table("slices", cases);
}

}  // namespace
}  // namespace tk::test
