// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_embedding at the sizes of sizes.txt: all types, numbers of every kind; special values.
#include "tests/ops/embedding/embedding.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 20: types, and which rows are named.
constexpr int kinds = 3 * id_kinds;
embedding_case of_kind(row_shape const& shape, int kind) {
  constexpr std::int64_t rows[] = {11, 1, 300, 0, 40};
  auto const turn = kind + shape.all_rows() + shape.width;
  auto x = embedding_of(shape, rows[turn % 5]);
  x.type = row_types[kind % 3];
  x.ids = static_cast<id_kind>(kind / 3);
  x.id_type = turn % 2 ? dtype::int32 : dtype::int64;
  return x;
}

// Into the rows that are named so, and into no other.
TEST_CASE("NaN and infinity stay in their row of the table") {
  for (auto const type : row_types)
    for (std::int64_t const d : {5, 64, 1000, 4096, 20000})
      for (double const special : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        auto c = embedding_of({.rank = 2, .rows = 9, .width = d}, 6);
        c.type = type;
        c.ids = d % 3 ? id_kind::distinct : id_kind::outside;
        check_special(c, &embedding_operands::table_rows, special, 4, d / 3);
      }
}

TEST_CASE("embedding at every size") {
  run_table("sizes", size_table("embedding", kinds, of_kind));
}
TEST_CASE("embedding of many short rows") { run_table("tails", tail_table(kinds, of_kind)); }

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = size_table("embedding", kinds, of_kind);
  std::set<int> seen;
  for (auto const& x : cases) seen.insert(static_cast<int>(x.type) + 3 * static_cast<int>(x.ids));
  CHECK(seen.size() == kinds);
  CHECK(widths_without_case(cases).empty());
  CHECK(has_many_rows(cases));
  CHECK(ranks_of(cases) == std::set{2, 3, 4});
}

}  // namespace
}  // namespace tk::test
