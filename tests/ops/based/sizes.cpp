// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_based at the sizes of sizes.txt, packed, and with strides.
#include <set>
#include <tuple>

#include "tests/ops/based/size_cases.hpp"

namespace tk::test {
namespace {

TEST_CASE("Based at every size") {
  run_table("sizes", in_direction<forward_operands>(size_cases()));
}
TEST_CASE("Based over packed sequences") {
  run_table("packed", in_direction<forward_operands>(packed_cases()));
}
TEST_CASE("Based with strides") {
  run_table("strides", in_direction<forward_operands>(stride_cases()));
}

TEST_CASE("the table of sizes holds every kind") {
  std::set<std::tuple<bool, dtype, bool>> kinds;
  std::set<std::int64_t> n;
  for (auto const& x : size_cases()) kinds.insert({x.normalise, x.type, x.states}), n.insert(x.n);
  CHECK(kinds.size() == 8);
  for (std::int64_t const size : {0, 1, 63, 64, 65, 1030}) CHECK(n.contains(size) == true);
}

}  // namespace
}  // namespace tk::test
