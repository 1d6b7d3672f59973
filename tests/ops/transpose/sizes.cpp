// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_transpose at the sizes of sizes.txt, in elements of one, two and four bytes.
#include "tests/ops/transpose/transpose.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr int kinds = 5;
transpose_case of_kind(row_shape const& shape, int kind) {
  auto x = transpose_of(shape);
  x.type = moved_types[kind];
  return x;
}

TEST_CASE("transpose at every size") {
  run_table("sizes", size_table("transpose", kinds, of_kind));
}

TEST_CASE("the table of sizes holds every kind and rank") {
  auto const cases = size_table("transpose", kinds, of_kind);
  std::set<dtype> seen;
  for (auto const& x : cases) seen.insert(x.type);
  CHECK(seen.size() == kinds);
  CHECK(ranks_of(cases) == std::set{2, 3, 4});
}

}  // namespace
}  // namespace tk::test
