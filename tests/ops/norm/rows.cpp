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
  upload_inputs(large.memories);
  REQUIRE(launch_by_rows(large, large.memories) == "");
  std::int64_t rows = 0, problems = 0;
  for (std::int64_t const m : row_counts(most))
    for (std::int64_t const first : {std::int64_t{0}, most - m}) {
      if (first > 0 && m > 300) continue;
      auto const wrong = compare_part(large, first, m, rows);
      CHECK_MESSAGE(wrong == "", describe(x) << "\n  rows " << first << " ... " << first + m - 1
                                             << " alone: " << wrong);
      ++problems;
    }
  std::printf("%s: %lld rows of %lld small problems\n", describe(x).c_str(),
              static_cast<long long>(rows), static_cast<long long>(problems));
}

TEST_CASE("rows of norm do not depend on the other rows") {
  std::int64_t const units = be::rt::device().multiprocessors;
  int turn = 0;
  for (std::int64_t const width : {64, 768, 1024, 4096, 8192, 8191, 20000}) {
    norm_case x{.rows = 0, .width = width};
    x.kind = ++turn % 2 ? TK_NORM_RMS : TK_NORM_LAYER;
    x.type = turn % 3 ? dtype::bf16 : dtype::fp32;
    x.residual = x.store_r = turn % 2;
    // Enough that a chip which chose tiles by the number of rows would take others for them.
    std::int64_t most =
        test_level() == level::card ? 8192 : std::max<std::int64_t>(320, 17 * units);
    if (test_level() == level::quick) most = width > 1024 ? 320 : std::min<std::int64_t>(most, 600);
    check_rows(x, most);
    x.kind = turn % 2 ? TK_NORM_LAYER : TK_NORM_RMS;
    x.type = turn % 3 ? dtype::fp16 : dtype::bf16;
    if (test_level() != level::quick) check_rows(x, most);
  }
}

}  // namespace
}  // namespace tk::test
