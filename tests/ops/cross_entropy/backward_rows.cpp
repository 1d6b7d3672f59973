// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of dx under TK_REPEAT_ROW: the same bits whatever the number of rows and of matrices.
#include "tests/ops/cross_entropy/cross_entropy_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

TEST_CASE("rows of cross_entropy's backward do not depend on the other rows") {
  int turn = 0;
  for (std::int64_t const width : {64, 768, 1024, 4096, 8192, 8191, 20000})
    for (auto const type : row_types) {
      cross_entropy_backward_case x{.shape = {.rank = 2, .rows = 0, .width = width}, .type = type};
      ++turn;
      x.smoothing = turn % 2 ? 0.1f : 0;
      x.z_loss = turn % 3 ? 0.01f : 0;
      x.softcap = turn % 4 ? 0 : 3;
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

}  // namespace
}  // namespace tk::test
