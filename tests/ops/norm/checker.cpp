// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the way of checking.
#include "tests/ops/norm/norm.hpp"
#include "tests/support/row_faults.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

TEST_CASE("one fault in a norm is found") {
  for (dtype const type : {dtype::bf16, dtype::fp16, dtype::fp32})
    for (tk_norm_kind const kind : {TK_NORM_LAYER, TK_NORM_RMS}) {
      norm_case c{.shape = {.rank = 2, .rows = 6, .width = 193}};
      c.type = type, c.kind = kind;
      c.residual = c.store_r = true;
      norm_operands x(c);
      REQUIRE(launch_twice(x) == "");
      REQUIRE(compare(x).wrong == "");
      std::int64_t const row = c.shape.rows - 1, col = c.shape.width - 1;
      int const steps = type == dtype::fp32 ? 100 : 2;
      wants_complaint("last place", x, x.y, row, [&] { nudge(x.y, row, col, steps); });
      wants_complaint("r's last place", x, x.r, row, [&] { nudge(x.r, row, col, 2); });
      wants_complaint("not written", x, x.y, row, [&] { put(x.y, row, col, std::nan("")); });
      wants_complaint("the row above", x, x.y, row, [&] {
        auto const other = row_bytes(x.y, row - 1);
        std::copy(other.begin(), other.end(), x.y.result_row(row));
      });
      x.of.eps = 1e-2f;  // as if the launch had taken another one
      CHECK(!compare(x).ok());
      x.of.eps = c.eps;
      CHECK(compare(x).wrong == "");
    }
}

TEST_CASE("one fault in a norm of fp8 is found") {
  for (dtype const to : {dtype::fp8_e4m3, dtype::fp8_e5m2})
    for (int i = 0; i < 3; ++i) {
      norm_case c{.shape = {.rank = 2, .rows = 6, .width = 193}};
      c.fp8 = to, c.power_of_two = i == 1;
      c.residual = c.store_r = true;
      if (i == 2) c.given_scale = 0.02f;
      norm_operands x(c);
      REQUIRE(launch_twice(x) == "");
      REQUIRE(compare(x).wrong == "");
      std::int64_t const row = c.shape.rows - 1;
      std::int64_t col = 0;  // such that its neighbours are far from right
      while (std::fabs(result_at(x.y, row, col)) < 16) REQUIRE(++col < c.shape.width);
      wants_complaint("last place", x, x.y, row, [&] { nudge(x.y, row, col, 1); });
      wants_complaint("not written", x, x.y, row, [&] { put(x.y, row, col, std::nan("")); });
      wants_complaint("r's last place", x, x.r, row, [&] { nudge(x.r, row, col, 2); });
      if (c.given_scale) {
        check_field_matters(x, &norm_case::given_scale, std::optional(0.03f));
        continue;
      }
      auto const& scale = x.y_scale;
      wants_complaint("a scale's place", x, scale, row, [&] { nudge(scale, row, 0, 1000); });
      wants_complaint("no scale", x, scale, row, [&] { put(scale, row, 0, std::nan("")); });
      check_field_matters(x, &norm_case::power_of_two, !c.power_of_two);
    }
}

}  // namespace
}  // namespace tk::test
