// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not.
#include "tests/ops/topk/topk.hpp"
#include "tests/support/row_faults.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

TEST_CASE("one fault in a topk is found") {
  for (auto const type : {dtype::bf16, dtype::fp16, dtype::fp32})
    for (auto const index_type : {dtype::int32, dtype::int64}) {
      topk_case c{.shape = {.rank = 3, .h = 2, .rows = 3, .width = 193}, .k = 9, .type = type};
      c.index_type = index_type;
      topk_operands x(c);
      REQUIRE(launch_twice(x) == "");
      REQUIRE(compare(x).wrong == "");
      wants_complaint("a place", x, x.values, 5, [&] { nudge(x.values, 5, 8, 1); });
      wants_complaint("NaN", x, x.values, 5, [&] { put(x.values, 5, 0, std::nan("")); });
      wants_complaint("zero", x, x.values, 4, [&] { put(x.values, 4, 3, 0); });
      for (double const col : {-7., 0., 192., 193.})
        wants_complaint("a column", x, x.indices, 5,
                        [&] { put(x.indices, 5, 2, result_at(x.indices, 5, 2) == col ? 1 : col); });
      x.of.smallest = true;
      CHECK(!compare(x).ok());
    }
}

TEST_CASE("equal numbers in another order, and the other zero, are found") {
  topk_case c{.shape = {.rank = 2, .rows = 2, .width = 40}, .k = 40, .type = dtype::fp32};
  c.of = contents::ties;
  topk_operands x(c);
  REQUIRE(launch_twice(x) == "");
  REQUIRE(compare(x).wrong == "");
  for (std::int64_t i = 0; i + 1 < c.k; ++i) {
    if (result_at(x.values, 1, i) != result_at(x.values, 1, i + 1)) continue;
    double const low = result_at(x.indices, 1, i), high = result_at(x.indices, 1, i + 1);
    wants_complaint("order", x, x.indices, 1, [&] {
      put(x.indices, 1, i, high);
      put(x.indices, 1, i + 1, low);
    });
  }
  for (std::int64_t i = 0; i < c.k; ++i)
    if (double const value = result_at(x.values, 1, i); value == 0)
      wants_complaint("sign", x, x.values, 1,
                      [&] { put(x.values, 1, i, std::signbit(value) ? 0. : -0.); });
}

}  // namespace
}  // namespace tk::test
