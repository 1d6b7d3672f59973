// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_rotary at the sizes of sizes.txt: all types of heads and tables, halves and pairs, both
// directions, tokens in order, at positions and at offsets; special values.
#include "tests/ops/rotary/rotary.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 59: types, how pairs lie, direction, tokens; keys, and how many columns pass through,
// go round.
constexpr int kinds = 60;
rotary_case of_kind(row_shape const& shape, int kind) {
  auto x = rotary_of(shape);
  x.type = row_types[kind % 5 / 2];
  x.table_type = kind % 5 % 2 ? x.type : dtype::fp32;
  x.interleaved = kind / 5 % 2;
  x.inverse = kind / 10 % 2;
  x.tokens = static_cast<tokens_at>(kind / 20);
  auto const turn = kind + shape.all_rows() + shape.width;
  x.number_type = turn % 2 ? dtype::int32 : dtype::int64;
  x.has_k = turn % 3 == 1;
  if (turn % 4 == 3) x.w = shape.width / 4;
  if (turn % 7 == 2) x.place = row_place::on_first;
  return x;
}

// Into both columns of its pair, and into no other.
TEST_CASE("NaN and infinity stay in their pair") {
  for (bool const interleaved : {false, true})
    for (std::int64_t const d : {6, 64, 128, 200, 512, 2048}) {
      rotary_case c{.shape = {.rank = 3, .h = 3, .rows = 5, .width = d}, .w = d / 2};
      c.interleaved = interleaved;
      c.type = d % 3 ? dtype::bf16 : dtype::fp32;
      for (double const special : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        check_special(c, &rotary_operands::q, special, 7, d / 3);
        check_special(c, &rotary_operands::cos, special, 1, d / 4);
        check_special(c, &rotary_operands::sin, special, 2, d / 2 - 1);
      }
    }
}

TEST_CASE("rotary at every size") { run_table("sizes", size_table("rotary", kinds, of_kind)); }
TEST_CASE("rotary of many short rows") { run_table("tails", tail_table(kinds, of_kind)); }

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = size_table("rotary", kinds, of_kind);
  std::set<int> seen;
  for (auto const& x : cases)
    seen.insert(static_cast<int>(x.type) + 3 * (x.table_type == dtype::fp32) + 6 * x.interleaved +
                12 * x.inverse + 24 * static_cast<int>(x.tokens));
  CHECK(seen.size() == kinds);
  CHECK(widths_without_case(cases).empty());
  CHECK(has_many_rows(cases));
  CHECK(ranks_of(cases) == std::set{3, 4});
}

}  // namespace
}  // namespace tk::test
