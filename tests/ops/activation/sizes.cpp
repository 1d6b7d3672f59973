// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_activation at the sizes of sizes.txt: all activations and types, with and without b, apart and
// packed in halves and in pairs; every number; special values.
#include "tests/ops/activation/activation.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 71: activations, types, without b, with it, packed, and interleaved, of 16 bits alone.
constexpr int kinds = 72;
activation_case of_kind(row_shape const& shape, int kind) {
  activation_case x{.shape = shape};
  x.type = row_types[kind % 3];
  x.kind = activation_kinds[kind / 3 % 6];
  x.gated = kind / 18 > 0;
  x.packed = kind / 18 == 2;
  x.interleaved = kind / 18 > 2;
  if (x.interleaved) x.type = row_types[kind % 2];
  return x;
}

std::vector<activation_case> every_number() {
  std::vector<activation_case> cases;
  for (auto const kind : activation_kinds)
    for (auto const type : row_types)
      for (bool const gated : {false, true}) {
        activation_case x{.shape = {.rank = 2, .rows = 256, .width = 256}, .type = type};
        x.kind = kind, x.gated = gated;
        x.data = activation_data::every_number;
        cases.push_back(x);
        x.interleaved = gated && type != dtype::fp32;
        if (x.interleaved) cases.push_back(x);
      }
  return cases;
}

TEST_CASE("NaN and infinity stay in their place") {
  int turn = 0;
  for (auto const kind : activation_kinds) {
    activation_case c{.shape = {}, .type = row_types[turn++ % 3], .kind = kind};
    check_specials(c, &activation_operands::a, {std::nan(""), HUGE_VAL, -HUGE_VAL});
    c.interleaved = true, c.type = row_types[turn % 2];
    check_specials(c, &activation_operands::a, {std::nan(""), HUGE_VAL, -HUGE_VAL});
    c.interleaved = false;
    if (turn % 2) check_specials(c, &activation_operands::b, {std::nan(""), HUGE_VAL, -HUGE_VAL});
  }
}

TEST_CASE("activation of every number") { run_table("numbers", every_number()); }
TEST_CASE("activation at every size") {
  run_table("sizes", size_table("activation", kinds, of_kind));
}
TEST_CASE("activation of many short rows") { run_table("tails", tail_table(kinds, of_kind)); }

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = size_table("activation", kinds, of_kind);
  std::set<int> seen;
  for (auto const& x : cases)
    seen.insert(static_cast<int>(x.type) + 3 * static_cast<int>(x.kind) +
                18 * (x.interleaved ? 3 : x.gated + x.packed));
  CHECK(seen.size() == 66);  // of pairs there are two types
  CHECK(widths_without_case(cases).empty());
  CHECK(has_many_rows(cases));
  CHECK(ranks_of(cases) == std::set{1, 2, 3, 4});
}

}  // namespace
}  // namespace tk::test
