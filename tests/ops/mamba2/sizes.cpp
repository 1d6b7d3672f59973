// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_mamba2 at the sizes of sizes.txt, packed, and with strides.
#include <set>
#include <tuple>

#include "tests/ops/mamba2/size_cases.hpp"

namespace tk::test {
namespace {

TEST_CASE("mamba2's forward at every size") {
  run_table("sizes", in_direction<mamba2_operands>(size_cases()));
}
TEST_CASE("mamba2's forward over packed sequences") {
  run_table("packed", in_direction<mamba2_operands>(packed_cases()));
}
TEST_CASE("mamba2's forward with strides") {
  run_table("strides", in_direction<mamba2_operands>(stride_cases()));
}

TEST_CASE("the table of sizes holds every kind") {
  std::set<std::tuple<skips, bool, bool>> kinds;
  std::set<std::tuple<bool, bool, dtype>> steps;
  std::set<std::int64_t> n;
  std::set<std::tuple<decays, bool>> of_states;
  for (auto const& x : size_cases()) {
    kinds.insert({x.skip, x.gate, x.states}), n.insert(x.n);
    steps.insert({x.softplus, x.bias, x.dt_type});
    if (x.n > 1) of_states.insert({x.decay, x.softplus});
  }
  CHECK(kinds.size() == 12);
  CHECK(steps.size() == 12);
  CHECK(of_states.size() == 6);
  for (std::int64_t const size : {0, 1, 63, 64, 65, 1030}) CHECK(n.contains(size) == true);
}

}  // namespace
}  // namespace tk::test
