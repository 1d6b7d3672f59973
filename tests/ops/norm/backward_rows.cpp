// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of dx under TK_REPEAT_ROW: the same bits whatever the number of rows, and whatever is summed
// over them.
#include "tests/ops/norm/backward_oracle.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

TEST_CASE("rows of norm's backward do not depend on the other rows") {
  int turn = 0;
  for (std::int64_t const width : {64, 768, 1024, 4096, 8192, 8191, 20000}) {
    row_shape const shape{.rank = 2, .rows = 0, .width = width};
    // Another order of sums shows in fp32; in bf16 only where a large mean is subtracted.
    norm_backward_case wide{.shape = shape, .kind = TK_NORM_RMS, .type = dtype::fp32};
    norm_backward_case narrow{.shape = shape, .kind = TK_NORM_LAYER, .mean = 1000, .size = 16};
    (++turn % 2 ? wide : narrow).dr = true;
    (turn % 2 ? wide : narrow).dweight = turn % 4 < 2;
    (turn % 2 ? narrow : wide).dbias = turn % 4 < 2;
    bool const quick = test_level() == level::quick, one = quick && width > 8000;
    if (!one || turn % 2) check_rows_alone(wide, most_rows(width));
    if (!one || turn % 2 == 0) check_rows_alone(narrow, most_rows(width));
    if (quick) continue;
    std::swap(wide.kind, narrow.kind);
    narrow.type = dtype::fp16;
    check_rows_alone(wide, most_rows(width));
    check_rows_alone(narrow, most_rows(width));
  }
}

}  // namespace
}  // namespace tk::test
