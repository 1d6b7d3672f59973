// SPDX-License-Identifier: MIT
// timeout: 600
// As rows.cpp, of all gradients of tokens and of states.
#include "tests/ops/mamba2/part.hpp"

namespace tk::test {
namespace {

TEST_CASE("gradients of sequences and groups do not depend on others") {
  check_company<mamba2_backward_operands>(company_cases());
}
TEST_CASE("gradients of a sequence that is cut have the bits of one that is walked") {
  check_cut<mamba2_backward_operands>({.p = 16, .s = 16, .states = true});
}

}  // namespace
}  // namespace tk::test
