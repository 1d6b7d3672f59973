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
// They do not know of it, of the same chunk either. (Products of dB multiply it by 0 there.)
TEST_CASE("NaN in C of a token does not reach dx and ddt of later ones") {
  constexpr std::int64_t n = 100, spoiled = 20;
  mamba2_backward_operands x({.n = n, .h = 4, .g = 2});
  std::int64_t numbers = 0, not_finite = 0;
  auto const tokens = [&](pair_of_operands const& y, std::int64_t first, std::int64_t count) {
    return part_of(y, x.of, {0, first, count, 0, x.of.h});
  };
  for (auto const& y : inputs_of(x, x)) {
    if (y.all != &x.C) continue;
    auto C = tokens(y, spoiled, 1);
    for (std::int64_t r = 0; r < C.rows(); ++r)
      for (std::int64_t c = 0; c < C.cols(); ++c) set(C, r, c, std::nan(""));
  }
  REQUIRE(launch_twice(x) == "");
  for (auto const& y : results_of(x, x)) {
    if (y.all != &x.dx && y.all != &x.ddt) continue;
    auto const later = tokens(y, spoiled + 1, n - spoiled - 1);
    std::vector<double> row(static_cast<std::size_t>(later.cols()));
    for (std::int64_t r = 0; r < later.rows(); ++r) {
      read_row(later.type, later.result_row(r), later.cols(), row.data());
      for (double const value : row) ++numbers, not_finite += !std::isfinite(value);
    }
  }
  CHECK(numbers == (n - spoiled - 1) * (4 * 64 + 4));
  CHECK(not_finite == 0);
}

}  // namespace
}  // namespace tk::test
