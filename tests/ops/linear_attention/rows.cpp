// SPDX-License-Identifier: MIT
// timeout: 600
// No sequence's and no head's bits depend on what is beside them: alone, in a batch, packed, walked
// by one task or cut into segments; and NaN in one of them stays there.
#include "tests/ops/linear_attention/part.hpp"

namespace tk::test {
namespace {

TEST_CASE("sequences and heads do not depend on others") { check_company<forward_operands>(); }
TEST_CASE("a sequence that is cut has the bits of one that is walked") {
  for (auto const decay : {decays::none, decays::mild})
    check_cut<forward_operands>({.decay = decay, .states = true});
}

}  // namespace
}  // namespace tk::test
