// SPDX-License-Identifier: MIT
// timeout: 600
// As rows.cpp, of all gradients of tokens and of states.
#include "tests/ops/linear_attention/part.hpp"

namespace tk::test {
namespace {

TEST_CASE("gradients of sequences and heads do not depend on others") {
  check_company<backward_operands>();
}
TEST_CASE("gradients of a sequence that is cut have the bits of one that is walked") {
  for (auto const decay : {decays::none, decays::mild})
    check_cut<backward_operands>({.decay = decay, .states = true});
}

}  // namespace
}  // namespace tk::test
