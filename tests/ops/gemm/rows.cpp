// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// Rows of d under TK_REPEAT_ROW: the same bits for every m and batch, with k so long that a chip
// which cuts tiles along k would cut those of few rows. d is fp32: bf16 would round most
// differences away.
#include "tests/ops/gemm/gemm.hpp"
#include "tests/support/rows.hpp"

namespace tk::test {
namespace {

// What differs between the rows [first, first + m) computed alone and in the large problem.
std::string compare_part(gemm_operands const& large, std::int64_t first, std::int64_t m,
                         std::int64_t& rows) {
  gemm_operands few({.m = 0, .n = 0, .k = 0});
  few.of = large.of;
  few.of.m = m;
  few.a = large.a;
  few.a.shape = {1, m, large.of.k};
  if (large.of.transpose_a) few.a.shape = {1, large.of.k, m};
  few.a.origin += first * large.a.strides[large.of.transpose_a ? 2 : 1];
  few.b = large.b;
  few.bias = large.bias;
  world outputs(7);
  few.d = place(outputs, large.of.out, 1, m, large.of.n, {}, role::output);
  if (auto const wrong = launch_by_rows(few, outputs); !wrong.empty()) return wrong;
  row_comparison bits;
  for (std::int64_t row = 0; row < m; ++row) bits.add(few.d, row, large.d, first + row);
  rows += bits.compared();
  return bits.wrong();
}

// The large problem may have several batches, which share b.
void check_rows(gemm_case x, std::int64_t most) {
  x.m = most;
  x.b_layout.batch = matrix_layout::batches::none;
  gemm_operands large(x);
  compare_small_problems(large, most, compare_part);
}

TEST_CASE("rows of gemm do not depend on the other rows") {
  gemm_case const small{
      .m = 0, .n = 72, .k = 2048, .batch = 2, .transpose_b = true, .out = dtype::fp32};
  gemm_case bias = small;
  bias.n = 40, bias.k = 1992, bias.transpose_b = false;
  bias.bias = TK_BIAS_ROW, bias.activation = TK_ACTIVATION_GELU_TANH;
  gemm_case turned = small;
  turned.transpose_a = true, turned.n = 24;
  std::int64_t const most = test_level() == level::quick ? 304 : 2048;
  check_rows(small, most);
  check_rows(bias, most);
  check_rows(turned, most);
}

TEST_CASE("rows of the gemms of a transformer") {
  if (test_level() != level::card) return;
  for (auto const& [n, k] : {std::pair{4096, 4096}, std::pair{14336, 4096}, std::pair{4096, 14336}})
    check_rows({.m = 0, .n = n, .k = k, .transpose_b = true, .out = dtype::fp32}, 8192);
}

}  // namespace
}  // namespace tk::test
