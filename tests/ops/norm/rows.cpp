// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of y and r under TK_REPEAT_ROW: the same bits whatever the number of rows and of matrices.
#include "tests/ops/norm/norm.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

TEST_CASE("rows of norm do not depend on the other rows") {
  int turn = 0;
  for (std::int64_t const width : {64, 768, 1024, 4096, 8192, 8191, 20000}) {
    row_shape const shape{.rank = 2, .width = width};
    // Another order of sums shows in fp32; in bf16 only where a large mean is subtracted.
    norm_case wide{.shape = shape, .kind = TK_NORM_RMS, .type = dtype::fp32};
    norm_case narrow{.shape = shape, .kind = TK_NORM_LAYER, .mean = 1000, .size = 16};
    (++turn % 2 ? wide : narrow).residual = true;
    (turn % 2 ? wide : narrow).store_r = true;
    check_rows_alone(wide, most_rows(width));
    check_rows_alone(narrow, most_rows(width));
    if (test_level() == level::quick) continue;
    std::swap(wide.kind, narrow.kind);
    narrow.type = dtype::fp16;
    check_rows_alone(wide, most_rows(width));
    check_rows_alone(narrow, most_rows(width));
  }
}

// A problem is cut into fewer of its matrices.
TEST_CASE("rows of norm do not depend on the other matrices") {
  int turn = 0;
  for (std::int64_t const width : {64, 1000, 4096}) {
    norm_case x{.shape = {.rank = 4, .h = 2, .rows = 3, .width = width}, .type = dtype::fp32};
    if (++turn % 2) x.shape = {.rank = 3, .rows = 5, .width = width};
    x.kind = turn % 2 ? TK_NORM_RMS : TK_NORM_LAYER;
    x.residual = x.store_r = turn == 2;
    x.x_layout = {.batch = matrix_layout::batches::interleaved, .parts = 3};
    check_rows_alone(x, 300);
  }
}

}  // namespace
}  // namespace tk::test
