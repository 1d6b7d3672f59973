// SPDX-License-Identifier: MIT
// tk_embedding_backward is the adjoint of tk_embedding: <dtable, table> = <dy, table[ids]>, of
// numbers that name rows several times, that name none, and that are ignored, whose row counts as
// 0 forwards. Of small whole numbers, so that both are exact.
#include "tests/ops/embedding/embedding.hpp"
#include "tests/ops/embedding/embedding_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

std::vector<embedding_backward_case> cases() {
  std::vector<embedding_backward_case> all;
  for (std::int64_t const width : {1, 5, 64, 136, 1030, 4104})
    for (int ids = 0; ids < id_kinds; ++ids)
      for (bool const ignores : {false, true}) {
        auto const turn = static_cast<int>(all.size());
        auto x = embedding_backward_of({.rank = 2 + turn % 3, .rows = 150, .width = width}, 9);
        if (x.tokens.rank > 2) x.tokens.h = 2, x.tokens.rows = 75;
        x.type = row_types[turn % 4 ? 2 : turn / 4 % 2];
        x.table_type = dtype::fp32;
        x.id_type = turn % 5 % 2 ? dtype::int32 : dtype::int64;
        x.ids = static_cast<id_kind>(ids);
        x.ignores = ignores;
        if (ignores) x.ignored = x.ids == id_kind::equal ? 9 / 2 : turn % 9;
        all.push_back(x);
      }
  return all;
}

// table[ids], with 0 in the place of an ignored row.
struct gathered {
  explicit gathered(embedding_backward_case const& c) : is(of(c)) {
    fill(is.table_rows, data::integers, 61);
    for (std::int64_t row = 0; row < c.shape.rows; ++row)
      table.push_back(given_row(is.table_rows, row));
    if (c.ignores)
      for (std::int64_t col = 0; col < c.shape.width; ++col) set(is.table_rows, c.ignored, col, 0);
    REQUIRE(launch_twice(is) == "");
  }
  static embedding_case of(embedding_backward_case const& c) {
    auto x = embedding_of(c.tokens, c.shape.rows);
    x.type = c.type, x.id_type = c.id_type, x.ids = c.ids;
    return x;
  }
  embedding_operands is;
  std::vector<std::vector<double>> table;
};

TEST_CASE("the backward is the forward's adjoint") {
  int named = 0, ignored = 0;
  for (auto const& c : cases()) {
    CAPTURE(describe(c));
    gathered const forward(c);
    embedding_backward_operands backward(c);
    fill(backward.dy, data::integers, 71);
    REQUIRE(launch_twice(backward) == "");
    double of_table = 0, of_y = 0;
    for (std::int64_t row = 0; row < c.shape.rows; ++row)
      for (std::int64_t col = 0; col < c.shape.width; ++col)
        of_table += result_at(backward.dtable, row, col) *
                    forward.table[static_cast<std::size_t>(row)][static_cast<std::size_t>(col)];
    for (std::int64_t row = 0; row < c.tokens.all_rows(); ++row) {
      auto const dy = given_row(backward.dy, row);
      for (std::int64_t col = 0; col < c.shape.width; ++col)
        of_y += dy[static_cast<std::size_t>(col)] * result_at(forward.is.y, row, col);
      auto const id = id_at(backward.ids, row, c.shape.rows);
      (c.ignores && id == c.ignored ? ignored : named) += id >= 0;
    }
    CHECK(of_table == of_y);
  }
  CHECK(named > 1000);
  CHECK(ignored > 100);
}

}  // namespace
}  // namespace tk::test
