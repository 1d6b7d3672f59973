// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_fft_conv at the sizes of sizes.txt, and with strides.
#include <set>
#include <tuple>

#include "tests/ops/fft_conv/size_cases.hpp"

namespace tk::test {
namespace {

TEST_CASE("long convolutions at every size") {
  run_table("sizes", in_direction<conv_operands>(size_cases()));
}
TEST_CASE("long convolutions with strides") {
  run_table("strides", in_direction<conv_operands>(stride_cases()));
}

TEST_CASE("circular convolutions of whole blocks") {
  run_table("whole blocks", in_direction<conv_operands>(whole_cases()));
}

TEST_CASE("the table of sizes holds every kind") {
  std::set<std::tuple<dtype, bool, bool, bool>> kinds;
  std::set<std::int64_t> n;
  for (auto const& x : size_cases())
    kinds.insert({x.type, x.circular, x.pre, x.post}), n.insert(x.n);
  CHECK(kinds.size() == 16);
  for (std::int64_t const size : {0, 1, 63, 64, 65, 1000, 1025}) CHECK(n.contains(size) == true);
}

}  // namespace
}  // namespace tk::test
