// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not.
#include "tests/ops/transpose/transpose.hpp"
#include "tests/support/row_faults.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

TEST_CASE("one fault in a transposed matrix is found") {
  for (auto const type : {dtype::bf16, dtype::fp16, dtype::fp32, dtype::fp8_e5m2}) {
    transpose_case c{.shape = {.rank = 3, .h = 2, .rows = 6, .width = 193}, .type = type};
    transpose_operands x(c);
    check_faults_found(x, 192, 1);
  }
}

}  // namespace
}  // namespace tk::test
