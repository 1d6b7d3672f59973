// SPDX-License-Identifier: MIT
// timeout: 600
// Packed sequences that do not hold all tokens (tests/support/sequence_gaps.hpp), walked and in
// segments.
#include "tests/support/sequence_gaps.hpp"

#include "tests/ops/linear_attention/cut.hpp"

namespace tk::test {

std::vector<double> sums_of(forward_operands const&) { return {}; }
std::vector<double> sums_of(backward_operands const& x) {
  std::vector<double> all;
  for (std::int64_t head = 0; head < x.of.h && x.ddecay.in; ++head)
    all.push_back(decode(dtype::fp32, x.ddecay.result_row(0) + head * 4));
  return all;
}

namespace {

template <class Operands> void check_walked() {
  for (auto const decay : {decays::none, decays::heads, decays::mild})
    for (auto const& of : short_gaps())
      check_gaps<Operands>({.h = 2, .d = 32, .dv = 48, .decay = decay, .states = true}, of);
}
template <class Operands> void check_segments() {
  for (auto const decay : {decays::none, decays::heads, decays::mild})
    for (auto const& of : long_gaps()) {
      scan_case c{.d = 16, .dv = 16, .decay = decay, .states = true};
      set_total(c, of);
      REQUIRE(is_cut<Operands>(c) == true);
      check_gaps<Operands>(c, of);
    }
}

TEST_CASE("tokens of no sequence") { check_walked<forward_operands>(); }
TEST_CASE("tokens of no sequence, gradients") { check_walked<backward_operands>(); }
TEST_CASE("tokens of no sequence, in segments") { check_segments<forward_operands>(); }
TEST_CASE("tokens of no sequence, gradients in segments") { check_segments<backward_operands>(); }

}  // namespace
}  // namespace tk::test
