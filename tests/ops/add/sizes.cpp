// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_add at the sizes of sizes.txt: all types, sums, scales and casts, b broadcast in every way, in
// place; special values.
#include "tests/ops/add/add.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 26: types of a and y; a sum, a scale or a cast. Factors, what of b is broadcast, and
// where y lies go round.
constexpr int kinds = 27;
add_case of_kind(row_shape const& shape, int kind) {
  constexpr float factors[] = {1, -0.375f, 1, 0, 1.1f};
  add_case x{.shape = shape};
  x.type = row_types[kind % 3];
  x.y_type = row_types[kind / 3 % 3];
  x.has_b = kind / 9 == 0;
  auto const turn = kind + shape.all_rows() + shape.width;
  if (kind / 9 < 2) x.alpha = factors[turn % 5];
  x.beta = factors[turn / 5 % 5];
  x.broadcast = static_cast<int>(turn % 8);
  if (turn % 7 == 2 && x.type == x.y_type) x.place = row_place::on_first;
  if (turn % 7 == 3 && x.has_b && x.broadcast == 0) x.place = row_place::on_second;
  return x;
}

// Numbers around the edges of types: what is rounded to subnormals, to 0 and to infinity.
TEST_CASE("numbers at the ends of types") {
  std::vector<add_case> cases;
  for (auto const from : row_types)
    for (auto const to : row_types)
      for (double const size : {0x1p-140, 0x1p-126, 0x1p-24, 0x1p-14, 65536.0, 0x1p127})
        for (bool const has_b : {false, true}) {
          add_case x{.shape = {.rank = 2, .rows = 3, .width = 4113}, .type = from, .y_type = to};
          x.has_b = has_b;
          x.size = size;
          if (cases.size() % 3 == 0) x.alpha = 0.7f;
          cases.push_back(x);
        }
  run_table("ends", cases);
}

TEST_CASE("NaN and infinity stay in their place") {
  int turn = 0;
  for (float const factor : {1.f, -0.5f, 0.f}) {
    add_case c{.shape = {}, .alpha = factor, .beta = factor};
    c.type = row_types[turn % 3], c.y_type = row_types[++turn % 3];
    check_specials(c, &add_operands::a, {std::nan(""), HUGE_VAL, -HUGE_VAL, -0.0});
    check_specials(c, &add_operands::b, {std::nan(""), HUGE_VAL, -HUGE_VAL, -0.0});
  }
}

TEST_CASE("add at every size") { run_table("sizes", size_table("add", kinds, of_kind)); }
TEST_CASE("add of many short rows") { run_table("tails", tail_table(kinds, of_kind)); }

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = size_table("add", kinds, of_kind);
  std::set<int> seen;
  for (auto const& x : cases)
    seen.insert(static_cast<int>(x.type) + 3 * static_cast<int>(x.y_type) + 9 * x.has_b);
  CHECK(seen.size() == 18);
  CHECK(widths_without_case(cases).empty());
  CHECK(has_many_rows(cases));
  CHECK(ranks_of(cases) == std::set{1, 2, 3, 4});
}

}  // namespace
}  // namespace tk::test
