// SPDX-License-Identifier: MIT
// timeout: 600
// As rows.cpp, of all gradients of tokens and of states.
#include "tests/ops/linear_attention/cut.hpp"

namespace tk::test {
namespace {

TEST_CASE("gradients of sequences and heads do not depend on others") {
  check_company<backward_operands>(company_cases());
}
TEST_CASE("gradients of a sequence that is cut have the bits of one that is walked") {
  for (auto const decay : {decays::none, decays::mild})
    check_cut<backward_operands>({.d = 16, .dv = 16, .decay = decay, .states = true});
}

TEST_CASE("one head is cut where many are walked") {
  scan_case c{.n = cut_length(), .d = 16, .dv = 16};
  CHECK(is_cut<backward_operands>(c) == true);
  c.h = be::rt::multiprocessors();
  CHECK(is_cut<backward_operands>(c) == false);
}

}  // namespace
}  // namespace tk::test
