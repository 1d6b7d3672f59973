// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of loss, lse and dx under TK_REPEAT_ROW: the same bits whatever the number of rows and of
// matrices, and those of loss and lse whether dx is wanted or not.
#include "tests/ops/cross_entropy/cross_entropy.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

TEST_CASE("rows of cross_entropy do not depend on the other rows") {
  int turn = 0;
  for (std::int64_t const width : {64, 768, 1024, 4096, 8192, 8191, 20000})
    for (auto const type : row_types) {
      cross_entropy_case x{.shape = {.rank = 2, .rows = 0, .width = width}, .type = type};
      ++turn;
      x.smoothing = turn % 2 ? 0.1f : 0;
      x.z_loss = turn % 3 ? 0.01f : 0;
      x.softcap = turn % 4 ? 0 : 3;
      x.store_lse = x.store_dx = true;
      bool const quick = test_level() == level::quick;
      // All rows at multiples of 16 bytes, or none.
      for (auto* how : {&x.x_layout, &x.dx_layout}) {
        how->padding = width % 8 ? 1 : 0;
        how->misalignment = turn % 5 ? 0 : 1;
      }
      if (!quick || type == dtype::fp32) check_rows_alone(x, most_rows(width));
      x.shape = {.rank = 3, .h = 0, .rows = 5, .width = width};
      if (!quick || type == dtype::bf16) check_rows_alone(x, most_rows(width) / 5);
    }
}

TEST_CASE("losses do not depend on whether their gradient is wanted") {
  for (std::int64_t const width : {1024, 8192, 20000, 40001})
    for (auto const type : row_types) {
      cross_entropy_case x{.shape = {.rank = 2, .rows = 9, .width = width}, .type = type};
      x.store_lse = true;
      if (width % 8 != 0) x.x_layout.padding = 1;
      cross_entropy_operands alone(x);
      x.store_dx = true;
      x.dx_layout = x.x_layout;
      cross_entropy_operands both(x);
      for (auto* operands : {&alone, &both}) {
        upload_inputs(operands->memories);
        REQUIRE(launch_by_rows(*operands, operands->memories) == "");
      }
      for (std::int64_t row = 0; row < x.shape.rows; ++row) {
        INFO(describe(x), ", row ", row);
        CHECK(result_at(alone.loss, row, 0) == result_at(both.loss, row, 0));
        CHECK(result_at(alone.lse, row, 0) == result_at(both.lse, row, 0));
      }
    }
}

}  // namespace
}  // namespace tk::test
