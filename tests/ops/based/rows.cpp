// SPDX-License-Identifier: MIT
// timeout: 600
// No sequence's and no head's bits depend on what is beside them: alone, in a batch, packed, walked
// by one task or cut into segments; and NaN in one of them stays there.
#include "tests/ops/based/part.hpp"

namespace tk::test {
namespace {

TEST_CASE("sequences and heads do not depend on others") {
  check_company<forward_operands>(company_cases());
}
TEST_CASE("one token of each sequence, too") {
  check_company<forward_operands>(
      {{.b = 3, .n = 1, .h = 2, .dv = 80, .states = true},
       {.b = 2, .n = 1, .h = 3, .type = dtype::fp16, .normalise = true, .states = true},
       {.b = 2, .n = 1, .h = 2, .dv = 144, .normalise = true}},
      TK_REPEAT_RUN);
}
TEST_CASE("a sequence that is cut has the bits of one that is walked") {
  for (bool const normalise : {false, true})
    check_cut<forward_operands>({.dv = 16, .normalise = normalise, .states = normalise});
}

// A block may have several heads.
TEST_CASE("one head is cut where many are walked") {
  based_case c{.n = cut_length(), .dv = 16};
  CHECK(is_cut<forward_operands>(c) == true);
  c.h = 4 * be::rt::multiprocessors();
  CHECK(is_cut<forward_operands>(c) == false);
}

// Of 3800 tokens, of which each multiprocessor of any number gets some; empty ones among them.
TEST_CASE("packed sequences in segments") {
  for (bool const normalise : {false, true}) {
    based_case const c{.dv = 16,
                       .normalise = normalise,
                       .states = normalise,
                       .lengths = {1000, 1024, 0, 1700, 76}};
    REQUIRE(is_cut<forward_operands>(c) == true);
    forward_operands x(c);
    REQUIRE(launch_twice(x) == "");
    auto const v = compare(x);
    CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
    compare_sequences(x);
    forward_operands bad(c);
    spoil_sequence(bad, 1);
    REQUIRE(launch_twice(bad) == "");
    compare_sequences(bad, 1);
  }
}

}  // namespace
}  // namespace tk::test
