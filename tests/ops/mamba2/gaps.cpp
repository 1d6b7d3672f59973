// SPDX-License-Identifier: MIT
// timeout: 600
// Packed sequences that do not hold all tokens (tests/support/sequence_gaps.hpp), walked and in
// segments.
#include "tests/support/sequence_gaps.hpp"

#include "tests/ops/mamba2/part.hpp"

namespace tk::test {

std::vector<double> sums_of(mamba2_operands const&) { return {}; }
std::vector<double> sums_of(mamba2_backward_operands const& x) {
  std::vector<double> all;
  for (auto const* y : {&x.dA, &x.ddt_bias, &x.dD}) {
    if (!y->in) continue;
    for (std::int64_t r = 0; r < y->rows(); ++r)
      for (std::int64_t c = 0; c < y->cols(); ++c)
        all.push_back(decode(dtype::fp32, y->result_row(r) + c * 4));
  }
  return all;
}

namespace {

template <class Operands> void check() {
  for (bool const gate : {false, true}) {
    mamba2_case c{.h = 4, .g = 2, .p = 32, .s = 48, .gate = gate, .bias = true, .states = true};
    c.skip = gate ? skips::heads : skips::columns;
    for (auto const& of : short_gaps()) check_gaps<Operands>(c, of);
  }
  for (auto const& of : long_gaps())
    check_gaps<Operands>({.p = 16, .s = 16, .skip = skips::heads, .states = true}, of);
}

TEST_CASE("tokens of no sequence") { check<mamba2_operands>(); }
TEST_CASE("tokens of no sequence, gradients") { check<mamba2_backward_operands>(); }

}  // namespace
}  // namespace tk::test
