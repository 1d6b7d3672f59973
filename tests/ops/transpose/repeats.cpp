// SPDX-License-Identifier: MIT
// timeout: 600
// transpose thirty times on the same inputs, equal bit for bit, and from many threads at once.
#include "tests/ops/transpose/transpose.hpp"
#include "tests/support/repeats.hpp"

namespace tk::test {
namespace {

// More tiles than run at a time, of each size of elements.
std::vector<transpose_case> many_tiles() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<transpose_case> all;
  for (auto const type : moved_types) {
    auto x = transpose_of({.rank = 3, .h = 3, .rows = 300, .width = 40 * units + 1});
    x.type = type;
    all.push_back(x);
  }
  return all;
}

transpose_case few(int i) {
  return transpose_of({.rank = 2, .rows = 1 + i % 70, .width = 30 + 61 * (i % 9)});
}

TEST_CASE("transpose gives the same bits thirty times") {
  run_repeats<transpose_operands>(many_tiles());
}
TEST_CASE("transpose from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few);
}

}  // namespace
}  // namespace tk::test
