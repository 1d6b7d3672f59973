// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of dx and dbias under TK_REPEAT_ROW: the same bits whatever the number of rows, of matrices
// under a mask.
#include "tests/ops/softmax/softmax_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

TEST_CASE("rows of softmax's backward do not depend on the other rows") {
  int turn = 0;
  for (std::int64_t const width : {64, 768, 1024, 4096, 8192, 8191, 20000})
    for (auto const type : row_types) {
      // Another order of sums shows in fp32 most, and where a large mean is subtracted.
      softmax_backward_case x{.shape = {.rank = 2, .rows = 0, .width = width}, .type = type};
      x.store_dbias = ++turn % 2;
      x.mean = 100;
      bool const quick = test_level() == level::quick;
      // All rows at multiples of 16 bytes, or none.
      for (auto* how : {&x.y_layout, &x.dy_layout, &x.dx_layout, &x.dbias_layout}) {
        how->padding = width % 8 ? 1 : 0;
        how->misalignment = turn % 5 ? 0 : 1;
      }
      if (!quick || type == dtype::fp32) check_rows_alone(x, most_rows(width));
      x.shape = {.rank = 3, .h = 0, .rows = 5, .width = width};
      x.mask = TK_MASK_CAUSAL;
      if (!quick || type == dtype::bf16) check_rows_alone(x, most_rows(width) / 5);
    }
}

}  // namespace
}  // namespace tk::test
