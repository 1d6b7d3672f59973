// SPDX-License-Identifier: MIT
// timeout: 600
// No sequence's and no group's bits depend on what is beside them: alone, in a batch, packed,
// walked by one task or cut into segments; and NaN in one of them stays there.
#include "tests/ops/mamba2/part.hpp"

namespace tk::test {
namespace {

TEST_CASE("sequences and groups do not depend on others") {
  check_company<mamba2_operands>(company_cases());
}
TEST_CASE("one token of each sequence, too") {
  check_company<mamba2_operands>(
      {{.b = 3, .n = 1, .h = 4, .g = 2, .p = 80, .s = 48, .states = true},
       {.b = 2, .n = 1, .h = 2, .p = 16, .s = 256, .gate = true}},
      TK_REPEAT_RUN);
}
TEST_CASE("a sequence that is cut has the bits of one that is walked") {
  check_cut<mamba2_operands>({.p = 16, .s = 16, .states = true}, TK_REPEAT_ROW);
}

}  // namespace
}  // namespace tk::test
