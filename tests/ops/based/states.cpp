// SPDX-License-Identifier: MIT
// timeout: 600
// States from call to call: sequences that are split, or walked token by token with the states in
// place, are right by the oracle of the unsplit one; a long one; wrong offsets of packed sequences
// write nothing outside.
#include "tests/ops/based/part.hpp"
#include "tests/support/sequence_gaps.hpp"

namespace tk::test {

std::vector<double> sums_of(forward_operands const&) { return {}; }

namespace {

TEST_CASE("a sequence in two or three calls") {
  for (bool const normalise : {false, true}) {
    check_split<forward_operands>({.b = 2, .h = 2, .normalise = normalise}, {64, 66}, false);
    check_split<forward_operands>({.h = 2, .dv = 80, .normalise = normalise}, {1, 100, 63}, true);
    check_split<forward_operands>({.dv = 32, .type = dtype::fp16, .normalise = normalise}, {33, 40},
                                  false);
  }
}

TEST_CASE("token by token, the states in their places") {
  for (bool const normalise : {false, true})
    check_split<forward_operands>({.b = 2, .h = 3, .dv = 80, .normalise = normalise},
                                  std::vector<std::int64_t>(20, 1), true);
}
TEST_CASE("token by token, the states in other places") {
  for (bool const normalise : {false, true})
    check_split<forward_operands>({.h = 2, .dv = 144, .type = dtype::fp16, .normalise = normalise},
                                  std::vector<std::int64_t>(5, 1), false);
}
// Each of its states lies otherwise than the rest.
TEST_CASE("a step of states of which one begins at any address") {
  for (bool const of_final : {false, true}) {
    forward_operands x({.b = 2, .n = 1, .h = 2, .normalise = true, .states = true});
    x.of.misalignment = 1;
    if (of_final) x.final = x.make_state(role::output, 0);
    else x.initial = x.make_state(role::input, 44);
    REQUIRE(launch_twice(x) == "");
    auto const v = compare(x);
    CHECK_MESSAGE(v.ok(), v.wrong);
  }
}
TEST_CASE("states that are not there") {
  for (std::int64_t const n : {1, 40})
    for (bool const normalise : {false, true})
      check_absent_states<forward_operands>({.b = 2, .n = n, .h = 2, .normalise = normalise});
}

TEST_CASE("a long sequence, and one with a negative scale") {
  based_case long_one{.n = 6000, .dv = 16, .normalise = true, .states = true};
  based_case negative{.n = 130, .h = 2, .states = true};
  negative.scale = -1.5f;
  for (auto const& c : {long_one, negative})
    CHECK_MESSAGE(run_scan<forward_operands>(c).wrong == "", describe(c));
}

TEST_CASE("wrong offsets touch nothing outside") {
  for (bool const normalise : {false, true})
    check_wrong_offsets<forward_operands>({.h = 2, .normalise = normalise, .states = true});
}

TEST_CASE("tokens of no sequence") {
  for (bool const normalise : {false, true})
    for (auto const& of : short_gaps())
      check_gaps<forward_operands>({.h = 2, .dv = 48, .normalise = normalise, .states = true}, of);
}
TEST_CASE("tokens of no sequence, in segments") {
  for (auto const& of : long_gaps()) {
    based_case c{.dv = 16, .normalise = true, .states = true};
    set_total(c, of);
    REQUIRE(is_cut<forward_operands>(c) == true);
    check_gaps<forward_operands>(c, of);
  }
}

}  // namespace
}  // namespace tk::test
