// SPDX-License-Identifier: MIT
// timeout: 600
// tk_embedding on tables, numbers and results that lie in memory in every way the interface allows:
// slices, strides and addresses that no vector load takes, negative and zero strides.
#include "tests/ops/embedding/embedding.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr layout_of<embedding_case> operands[] = {
    &embedding_case::table_layout, &embedding_case::ids_layout, &embedding_case::y_layout};

embedding_case begin(std::size_t turn) {
  auto x = embedding_of(shape_of_turn(turn), 13);
  x.type = row_types[turn / 2 % 3];
  x.ids = static_cast<id_kind>(turn / 5 % id_kinds);
  x.id_type = turn % 2 ? dtype::int32 : dtype::int64;
  return x;
}

TEST_CASE("embedding with odd layouts") { run_table("layouts", layout_table(operands, begin)); }

// Rows of the table, and numbers, that lie on each other.
TEST_CASE("embedding of rows that lie on each other") {
  std::vector<embedding_case> cases;
  std::vector<layout_of<embedding_case>> const inputs{operands[0], operands[1]};
  add_layouts<embedding_case>(cases, inputs, shared_layouts(), begin);
  run_table("shared", cases);
}

}  // namespace
}  // namespace tk::test
