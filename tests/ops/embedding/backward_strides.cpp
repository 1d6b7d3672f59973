// SPDX-License-Identifier: MIT
// timeout: 600
// tk_embedding_backward on gradients, numbers and tables that lie in memory in every way the
// interface allows: slices, strides and addresses that no vector load takes, negative and zero
// strides.
#include "tests/ops/embedding/embedding_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

using backward_case = embedding_backward_case;
constexpr layout_of<backward_case> operands[] = {
    &backward_case::dy_layout, &backward_case::ids_layout, &backward_case::dtable_layout};

backward_case begin(std::size_t turn) {
  auto x = embedding_backward_of(shape_of_turn(turn), 5);
  x.type = row_types[turn / 2 % 3];
  x.table_type = turn % 3 ? x.type : dtype::fp32;
  x.ids = static_cast<id_kind>(turn / 5 % id_kinds);
  x.id_type = turn % 2 ? dtype::int32 : dtype::int64;
  return x;
}

TEST_CASE("embedding's backward with odd layouts") {
  run_table("layouts", layout_table(operands, begin));
}

// Rows of dy, and numbers, that lie on each other.
TEST_CASE("embedding's backward of rows that lie on each other") {
  std::vector<backward_case> cases;
  std::vector<layout_of<backward_case>> const inputs{operands[0], operands[1]};
  add_layouts<backward_case>(cases, inputs, shared_layouts(), begin);
  run_table("shared", cases);
}

}  // namespace
}  // namespace tk::test
