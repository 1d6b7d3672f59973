// SPDX-License-Identifier: MIT
// timeout: 600
// No sequence's and no head's gradients depend on what is beside them: alone, in a batch, packed;
// and NaN in one of them stays there. Tokens of no sequence, and wrong offsets; thirty times the
// same bits.
#include "tests/support/repeats.hpp"

#include "tests/ops/based/backward.hpp"
#include "tests/ops/based/part.hpp"
#include "tests/support/sequence_gaps.hpp"

namespace tk::test {

std::vector<double> sums_of(backward_operands const&) { return {}; }

inline std::vector<pair_of_operands> own_inputs(backward_operands& few, backward_operands& all) {
  return {{&few.dout, &all.dout, kind::of_tokens},
          {&few.dfinal, &all.dfinal, kind::of_states},
          {&few.dfinal_sums, &all.dfinal_sums, kind::of_states}};
}
inline std::vector<pair_of_operands> results_of(backward_operands& few, backward_operands& all) {
  return {{&few.dq, &all.dq, kind::of_tokens},
          {&few.dk, &all.dk, kind::of_tokens},
          {&few.dv, &all.dv, kind::of_tokens},
          {&few.dinitial, &all.dinitial, kind::of_states},
          {&few.dinitial_sums, &all.dinitial_sums, kind::of_states}};
}

namespace {

// Within a segment: what is cut is a matter of the scans.
TEST_CASE("gradients of sequences and heads do not depend on others") {
  auto cases = company_cases();
  cases.pop_back();
  check_company<backward_operands>(cases);
}
TEST_CASE("tokens of no sequence, gradients") {
  for (bool const normalise : {false, true})
    for (auto const& of : short_gaps())
      check_gaps<backward_operands>({.h = 2, .dv = 48, .normalise = normalise, .states = true}, of);
}
TEST_CASE("wrong offsets touch nothing outside, gradients") {
  for (bool const normalise : {false, true})
    check_wrong_offsets<backward_operands>({.h = 2, .normalise = normalise, .states = true});
}
TEST_CASE("Based's backward gives the same bits thirty times") {
  std::vector<based_case> const cases{
      {.n = 70, .h = 2, .dv = 32, .normalise = true, .states = true},
      {.dv = 48, .lengths = {33, 0, 1, 77}},
      {.n = cut_length(), .dv = 16}};
  run_repeats<backward_operands>(cases);
}

}  // namespace
}  // namespace tk::test
