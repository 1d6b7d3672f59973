// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_hedgehog at the sizes of sizes.txt, packed, with lengths, and with strides.
#include "tests/ops/hedgehog/size_cases.hpp"

namespace tk::test {
namespace {

TEST_CASE("hedgehog at every size") { run_table("sizes", size_cases()); }
TEST_CASE("hedgehog over packed sequences") { run_table("packed", packed_cases()); }
TEST_CASE("hedgehog over sequences of different lengths") { run_table("lengths", length_cases()); }
TEST_CASE("hedgehog with strides") { run_table("strides", stride_cases()); }

}  // namespace
}  // namespace tk::test
