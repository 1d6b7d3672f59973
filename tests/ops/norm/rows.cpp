// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of y and r under TK_REPEAT_ROW: the same bits whatever the number of rows.
#include "tests/ops/norm/norm.hpp"
#include "tests/support/rows.hpp"

namespace tk::test {
namespace {

std::string compare_part(norm_operands const& large, std::int64_t first, std::int64_t m,
                         std::int64_t& rows) {
  norm_operands few({.rows = 0, .width = 0});
  few.of = large.of;
  few.of.rows = m;
  world outputs(7);
  auto const part = [&](tensor x) {
    if (x.in) x.shape[0] = m, x.origin += first * x.strides[0];
    return x;
  };
  auto const output = [&](tensor const& x) {
    return x.in ? place(outputs, x.type, 0, m, x.cols(), {.batch = matrix_layout::batches::none},
                        role::output)
                : tensor{};
  };
  few.x = part(large.x);
  few.residual = part(large.residual);
  few.weight = large.weight;
  few.bias = large.bias;
  few.y = output(large.y);
  few.r = output(large.r);
  if (auto const wrong = launch_by_rows(few, outputs); !wrong.empty()) return wrong;
  row_comparison bits;
  for (std::int64_t row = 0; row < m; ++row) {
    bits.add(few.y, row, large.y, first + row);
    if (few.r.in) bits.add(few.r, row, large.r, first + row);
  }
  rows += bits.compared();
  return bits.wrong();
}

void check_rows(norm_case x, std::int64_t most) {
  x.rows = most;
  norm_operands large(x);
  compare_small_problems(large, most, compare_part);
}

// Enough rows that a chip which chose tiles by their number would take others for them.
std::int64_t most_rows(std::int64_t width) {
  if (test_level() == level::card) return 8192;
  if (test_level() == level::quick && width > 1024) return 320;
  return std::max<std::int64_t>(320, 17 * be::rt::device().multiprocessors);
}

TEST_CASE("rows of norm do not depend on the other rows") {
  int turn = 0;
  for (std::int64_t const width : {64, 768, 1024, 4096, 8192, 8191, 20000}) {
    // Another order of sums shows in fp32; in bf16 only where a large mean is subtracted.
    norm_case wide{.rows = 0, .width = width, .kind = TK_NORM_RMS, .type = dtype::fp32};
    norm_case narrow{.rows = 0, .width = width, .kind = TK_NORM_LAYER, .mean = 1000, .size = 16};
    (++turn % 2 ? wide : narrow).residual = true;
    (turn % 2 ? wide : narrow).store_r = true;
    check_rows(wide, most_rows(width));
    check_rows(narrow, most_rows(width));
    if (test_level() == level::quick) continue;
    std::swap(wide.kind, narrow.kind);
    narrow.type = dtype::fp16;
    check_rows(wide, most_rows(width));
    check_rows(narrow, most_rows(width));
  }
}

}  // namespace
}  // namespace tk::test
