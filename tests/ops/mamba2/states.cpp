// SPDX-License-Identifier: MIT
// timeout: 600
// States from call to call: sequences that are split, or walked token by token with the state in
// place, are right by the oracle of the unsplit one; wrong offsets of packed sequences write
// nothing outside.
#include "tests/ops/mamba2/part.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

TEST_CASE("a sequence in two or three calls") {
  check_split<mamba2_operands>({.b = 2, .h = 2, .softplus = true}, {64, 66}, false);
  check_split<mamba2_operands>({.h = 2, .p = 48, .s = 128, .gate = true}, {1, 100, 63}, true);
  check_split<mamba2_operands>({.p = 32, .s = 256, .type = dtype::fp16, .skip = skips::heads},
                               {33, 40}, false);
  for (auto const decay : {decays::none, decays::vanishing})
    check_split<mamba2_operands>({.h = 2, .p = 16, .s = 16, .decay = decay, .softplus = true},
                                 {70, 60, 3}, true);
}
TEST_CASE("token by token, the state in its place") {
  check_split<mamba2_operands>(
      {.b = 2, .h = 4, .g = 2, .s = 80, .gate = true, .bias = true, .softplus = true},
      std::vector<std::int64_t>(20, 1), true);
}

TEST_CASE("wrong offsets touch nothing outside") {
  mamba2_case const c{.h = 2, .p = 32, .s = 16, .gate = true, .states = true};
  check_wrong_offsets<mamba2_operands>(c);
  check_wrong_offsets<mamba2_backward_operands>(c);
}

}  // namespace
}  // namespace tk::test
