// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the block.
#include "tests/ops/quantise/quantise.hpp"
#include "tests/support/row_faults.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

// A column of the last row whose result is neither 0 nor the largest.
std::int64_t telling_column(quantise_operands const& x) {
  auto const row = x.of.shape.all_rows() - 1;
  for (std::int64_t col = 1; col < x.of.shape.width; ++col) {
    double const y = std::fabs(result_at(x.y, row, col));
    if (y > 1 && y < format_of(x.of.y_type).largest / 4) return col;
  }
  FAIL("there is no such column");
  return 0;
}

TEST_CASE("one fault in quantise is found") {
  for (int kind = 0; kind < quantise_kinds; ++kind) {
    auto c = quantise_of_kind({.rank = 2, .rows = 4, .width = 140}, kind);
    c.mean = 0, c.size = 1;
    c.given = 0.01f;
    quantise_operands x(c);
    REQUIRE(launch_twice(x) == "");
    REQUIRE(compare(x).wrong == "");
    auto const row = c.shape.all_rows() - 1, col = telling_column(x);
    wants_complaint("a place", x, x.y, row, [&] { nudge(x.y, row, col, 1); });
    wants_complaint("zero", x, x.y, row, [&] { put(x.y, row, col, 0); });
    wants_complaint("not written", x, x.y, row, [&] { put(x.y, row, col, std::nan("")); });
    if (c.kind == TK_SCALE_GIVEN) {
      check_field_matters(x, &quantise_case::given, 0.02f);
      continue;
    }
    auto const last = x.scale.rows() - 1;
    wants_complaint("a scale's place", x, x.scale, last, [&] { nudge(x.scale, last, 0, 1); });
    wants_complaint("no scale", x, x.scale, last, [&] { put(x.scale, last, 0, std::nan("")); });
    check_field_matters(x, &quantise_case::power_of_two, !c.power_of_two);
  }
}

}  // namespace
}  // namespace tk::test
