// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the way of checking.
#include "tests/ops/rotary/rotary.hpp"
#include "tests/support/row_faults.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

// A column of the last row whose result is not near 0: differences of products lose digits.
std::int64_t telling_column(rotary_operands const& x) {
  auto const row = x.of.shape.all_rows() - 1;
  for (std::int64_t col = 1; col < 2 * x.of.w; ++col)
    if (std::fabs(result_at(x.q_out, row, col)) > 1 &&
        (!x.of.has_k || std::fabs(result_at(x.k_out, row, col)) > 1))
      return col;
  FAIL("there is no such column");
  return 0;
}

TEST_CASE("one fault in rotary is found") {
  for (auto const type : {dtype::bf16, dtype::fp16, dtype::fp32})
    for (auto const tokens : {tokens_at::in_order, tokens_at::positions, tokens_at::offsets})
      for (bool const interleaved : {false, true}) {
        rotary_case c{.shape = {.rank = 4, .b = 2, .h = 3, .rows = 4, .width = 70}, .w = 33};
        c.type = type;
        c.tokens = tokens;
        c.interleaved = interleaved;
        c.has_k = true;
        rotary_operands x(c);
        // The last token's angles are those of a row of the tables.
        if (x.numbers.in) set(x.numbers, x.numbers.rows() - 1, x.numbers.cols() - 1, 3);
        REQUIRE(launch_twice(x) == "");
        check_faults_found(x, telling_column(x), type == dtype::fp32 ? 40 : 2);
        check_field_matters(x, &rotary_case::interleaved, !interleaved);
        check_field_matters(x, &rotary_case::inverse, true);
        check_field_matters(x, &rotary_case::w, std::int64_t{32});
        auto const row = c.shape.all_rows() - 1;
        wants_complaint("a column that passes through", x, x.q_out, row,
                        [&] { nudge(x.q_out, row, 68, 1); });
      }
}

TEST_CASE("an angle for a token that has none is found") {
  rotary_case c{.shape = {.rank = 3, .h = 3, .rows = 2, .width = 64}, .w = 32};
  c.tokens = tokens_at::positions;
  rotary_operands x(c);
  set(x.numbers, 0, 1, -1);
  REQUIRE(launch_twice(x) == "");
  REQUIRE(compare(x).wrong == "");
  wants_complaint("a number", x, x.q_out, 3, [&] { put(x.q_out, 3, 7, 0.001); });
}

}  // namespace
}  // namespace tk::test
