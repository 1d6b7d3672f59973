// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of y under TK_REPEAT_ROW: the same bits whatever the number of rows, of matrices under a
// mask.
#include "tests/ops/softmax/softmax.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

TEST_CASE("rows of softmax do not depend on the other rows") {
  int turn = 0;
  for (std::int64_t const width : {64, 768, 1024, 4096, 8192, 8191, 20000})
    for (auto const type : row_types) {
      // Another order of sums shows in fp32 most, and where scores are alike.
      softmax_case x{.shape = {.rank = 2, .rows = 0, .width = width}, .type = type};
      x.bias = ++turn % 2 ? bias_use::same_type : bias_use::none;
      x.size = turn % 3 ? 1 : 0.125;
      x.bool_mask = turn / 2 % 2 ? bool_mask_use::boolean : bool_mask_use::none;
      bool const quick = test_level() == level::quick;
      // All rows at multiples of 16 bytes, or none.
      for (auto* how : {&x.x_layout, &x.bias_layout, &x.y_layout, &x.mask_layout}) {
        how->padding = width % 8 ? 1 : 0;
        how->misalignment = turn % 5 ? 0 : 1;
      }
      if (!quick || type == dtype::fp32) check_rows_alone(x, most_rows(width));
      x.shape = {.rank = 3, .h = 0, .rows = 5, .width = width};
      x.mask = TK_MASK_CAUSAL;
      x.broadcast = x.mask_broadcast = 2;
      if (!quick || type == dtype::bf16) check_rows_alone(x, most_rows(width) / 5);
    }
}

}  // namespace
}  // namespace tk::test
