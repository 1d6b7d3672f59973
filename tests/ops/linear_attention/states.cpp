// SPDX-License-Identifier: MIT
// timeout: 600
// States from call to call: sequences that are split, or walked token by token with the state in
// place, are right by the oracle of the unsplit one; a long one without decay; wrong offsets of
// packed sequences write nothing outside.
#include "tests/ops/linear_attention/part.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

TEST_CASE("a sequence in two or three calls") {
  for (auto const decay : {decays::none, decays::heads, decays::mild, decays::strong}) {
    check_split<forward_operands>({.b = 2, .h = 2, .decay = decay}, {64, 66}, false);
    check_split<forward_operands>({.h = 2, .d = 128, .dv = 48, .decay = decay}, {1, 100, 63}, true);
    check_split<forward_operands>({.d = 256, .dv = 32, .type = dtype::fp16, .decay = decay},
                                  {33, 40}, false);
  }
}

TEST_CASE("token by token, the state in its place") {
  for (auto const decay : {decays::none, decays::mild})
    check_split<forward_operands>({.b = 2, .h = 3, .d = 64, .dv = 80, .decay = decay},
                                  std::vector<std::int64_t>(20, 1), true);
}

TEST_CASE("a long sequence without decay, and one with a negative scale") {
  scan_case long_one{.n = 12000, .d = 16, .dv = 16, .states = true};
  scan_case negative{.n = 130, .h = 2, .decay = decays::mild, .states = true};
  negative.scale = -2.5f;
  for (auto const& c : {long_one, negative}) {
    CHECK_MESSAGE(run_scan<forward_operands>(c).wrong == "", describe(c));
    CHECK_MESSAGE(run_scan<backward_operands>(c).wrong == "", describe(c));
  }
}

TEST_CASE("wrong offsets touch nothing outside") {
  scan_case const c{.h = 2, .decay = decays::mild, .states = true};
  check_wrong_offsets<forward_operands>(c);
  check_wrong_offsets<backward_operands>(c);
}

}  // namespace
}  // namespace tk::test
