// SPDX-License-Identifier: MIT
// timeout: 600
// No sequence's and no head's bits depend on what is beside them: alone, in a batch, packed, walked
// by one task or cut into segments; and NaN in one of them stays there.
#include "tests/ops/linear_attention/cut.hpp"

namespace tk::test {
namespace {

TEST_CASE("sequences and heads do not depend on others") {
  check_company<forward_operands>(company_cases());
}
TEST_CASE("one token of each sequence, too") {
  for (auto const decay : {decays::none, decays::mild})
    for (std::int64_t const d : {64, 176})
      check_company<forward_operands>(
          {{.b = 3, .n = 1, .h = 2, .d = d, .dv = 80, .decay = decay, .states = true}},
          TK_REPEAT_RUN);
}
TEST_CASE("a sequence that is cut has the bits of one that is walked") {
  for (auto const decay : {decays::none, decays::mild})
    check_cut<forward_operands>({.d = 16, .dv = 16, .decay = decay, .states = true});
}

TEST_CASE("one head is cut where many are walked") {
  scan_case c{.n = cut_length(), .d = 16, .dv = 16};
  CHECK(is_cut<forward_operands>(c) == true);
  c.h = be::rt::multiprocessors();
  CHECK(is_cut<forward_operands>(c) == false);
}

}  // namespace
}  // namespace tk::test
