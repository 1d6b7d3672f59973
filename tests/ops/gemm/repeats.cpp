// SPDX-License-Identifier: MIT
// timeout: 600
// gemm thirty times on the same inputs, equal bit for bit, and from many threads at once.
#include "tests/ops/gemm/oracle.hpp"
#include "tests/support/repeats.hpp"

namespace tk::test {
namespace {

std::vector<gemm_case> products() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<gemm_case> all;
  // Cut along k, where a chip does so: one tile into many pieces; tiles for half of the chip, and a
  // little more, into pieces that straddle them.
  all.push_back({.m = 100, .n = 120, .k = 3000, .transpose_b = true});
  all.push_back({.m = 60, .n = 70, .k = 2048, .batch = units * 53 / 100, .transpose_a = true});
  // Operands that are copied first.
  gemm_case copied{.m = 110, .n = 101, .k = 99, .in = dtype::fp16, .out = dtype::fp16};
  copied.a_layout.padding = copied.b_layout.padding = 2;
  all.push_back(copied);
  // Tiles for large products; the whole epilogue.
  all.push_back(many({.m = 70, .n = 56, .k = 40}, 1));
  all.push_back(many({.m = 70, .n = 56, .k = 40}, 2));
  gemm_case full{.m = 130, .n = 61, .k = 65, .out = dtype::fp32, .alpha = 0.5f, .beta = 2};
  full.c = c_use::in_place, full.bias = TK_BIAS_ROW, full.activation = TK_ACTIVATION_GELU_TANH;
  all.push_back(full);
  return all;
}

gemm_case product(int i) {
  gemm_case x{.m = 60 + 17 * (i % 3), .n = 130 - 9 * (i % 5), .k = 40 + i % 7};
  x.transpose_b = i % 2;
  x.values = data::integers;
  x.out = i % 3 ? dtype::bf16 : dtype::fp32;
  return x;
}

TEST_CASE("gemm gives the same bits thirty times") { run_repeats<gemm_operands>(products()); }
TEST_CASE("gemm from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, product);
}

}  // namespace
}  // namespace tk::test
