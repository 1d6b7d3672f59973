// SPDX-License-Identifier: MIT
// timeout: 600
// attention with dropout, forward and backward, on several streams at once, each with a random
// state and a workspace of its own: the bits of one call after the other. Two of the calls differ
// in their states alone, and have other results.
#include "tests/ops/attention/backward_options_oracle.hpp"
#include "tests/ops/attention/option_cases.hpp"
#include "tests/ops/attention/options_oracle.hpp"
#include "tests/support/repeats.hpp"

namespace tk::test {
namespace {

std::vector<option_case> calls() {
  option_case batch{.b = 2, .hq = 4, .hk = 2, .nq = 70, .nk = 140};
  auto sequences = packed({65, 0, 3}, {130, 20, 70});
  sequences.hq = sequences.hk = 2, sequences.type = dtype::fp16;
  std::vector<option_case> all{batch, batch, sequences};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].dropout = 0.5f, all[i].random_state = true;
    all[i].seed = 11 + i, all[i].offset = 5;
  }
  return all;
}

tensor const& result_of(option_operands const& x) { return x.o; }
tensor const& result_of(backward_option_operands const& x) { return x.dq; }
template <class Operands, class Case> void check(std::vector<Case> const& cases) {
  Operands first(cases[0]), second(cases[1]);
  REQUIRE(launch_twice(first) == "");
  REQUIRE(launch_twice(second) == "");
  tensor const &x = result_of(first), &y = result_of(second);
  std::int64_t alike = 0;
  for (std::int64_t r = 0; r < x.rows(); ++r)
    alike += std::memcmp(x.result_row(r), y.result_row(r),
                         static_cast<std::size_t>(x.cols() * bytes_of(x.type))) == 0;
  CHECK(alike == 0);
  run_on_streams<Operands>(cases);
}

TEST_CASE("dropout on several streams at once") { check<option_operands>(calls()); }
TEST_CASE("dropout's backward on several streams at once") {
  std::vector<backward_option_case> all;
  for (auto const& x : calls()) all.push_back({x});
  check<backward_option_operands>(all);
}

}  // namespace
}  // namespace tk::test
