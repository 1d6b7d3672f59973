// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_embedding_backward at the sizes of sizes.txt: all types, numbers of every kind, some ignored;
// rows of many tokens, around a piece's and a window's; special values.
#include "tests/ops/embedding/embedding_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 34: types, and which rows are named.
constexpr int kinds = 5 * id_kinds;
embedding_backward_case of_kind(row_shape const& shape, int kind) {
  constexpr std::int64_t rows[] = {11, 1, 300, 0, 40};
  auto const turn = kind + shape.all_rows() + shape.width;
  auto const v = rows[turn % 5];
  auto x = embedding_backward_of(shape, shape.width > 5000 ? std::min<std::int64_t>(v, 7) : v);
  x.type = row_types[kind % 5 / 2];
  x.table_type = kind % 5 % 2 ? x.type : dtype::fp32;
  x.ids = static_cast<id_kind>(kind / 5);
  x.id_type = turn % 2 ? dtype::int32 : dtype::int64;
  x.ignores = turn % 3 == 0;
  x.ignored = x.ignores ? turn % 4 - 1 : 0;
  return x;
}

std::vector<embedding_backward_case> table() {
  auto cases = size_table("embedding", kinds, of_kind);
  std::erase_if(cases, [](auto const& x) { return x.tokens.all_rows() * x.shape.width > 1 << 25; });
  return cases;
}

// How many tokens a row has, and where those of others lie, around the sizes of pieces (128), of
// what a worker has (32), and of windows of several.
std::vector<embedding_backward_case> long_rows() {
  std::vector<embedding_backward_case> cases;
  int turn = 0;
  for (std::int64_t const tokens :
       {31, 32, 33, 127, 128, 129, 130, 255, 256, 257, 384, 385, 1000, 4095, 4097, 10000})
    for (auto const ids : {id_kind::equal, id_kind::half, id_kind::repeated, id_kind::sorted}) {
      ++turn;
      auto x =
          embedding_backward_of({.rank = 2, .rows = tokens, .width = 9 + turn % 3}, 1 + turn % 9);
      x.type = row_types[turn % 3];
      x.table_type = turn % 2 ? x.type : dtype::fp32;
      x.ids = ids;
      cases.push_back(x);
    }
  return cases;
}

// Into the row of dtable that their token names, and into no other.
TEST_CASE("NaN and infinity stay in their row") {
  int turn = 0;
  for (std::int64_t const d : {5, 64, 1000, 4096, 20000})
    for (auto const ids : {id_kind::repeated, id_kind::distinct, id_kind::outside, id_kind::half})
      for (double const special : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        auto c = embedding_backward_of({.rank = 2, .rows = d < 100 ? 300 : 40, .width = d}, 6);
        c.type = c.table_type = row_types[++turn % 3];
        c.ids = ids;
        check_special(c, &embedding_backward_operands::dy, special, 13, d / 3);
        // In a token that is ignored: nowhere.
        c.ignores = true;
        c.ignored = std::max<std::int64_t>(id_at(embedding_backward_operands(c).ids, 13, 6), 0);
        check_special(c, &embedding_backward_operands::dy, special, 13, d / 3);
      }
}

TEST_CASE("embedding's backward at every size") { run_table("sizes", table()); }
TEST_CASE("embedding's backward of rows of many tokens") { run_table("long", long_rows()); }

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = table();
  std::set<int> seen, ranks;
  for (auto const& x : cases) {
    seen.insert(static_cast<int>(x.type) + 3 * (x.table_type == dtype::fp32) +
                6 * static_cast<int>(x.ids));
    ranks.insert(x.tokens.rank);
  }
  CHECK(seen.size() == kinds);
  CHECK(widths_without_case(cases).empty());
  CHECK(ranks == std::set{2, 3, 4});
}

}  // namespace
}  // namespace tk::test
