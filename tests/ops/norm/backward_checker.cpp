// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the way of checking.
#include "tests/ops/norm/backward_oracle.hpp"
#include "tests/support/row_faults.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

norm_backward_case case_of(std::int64_t rows, std::int64_t width, dtype type, tk_norm_kind kind) {
  norm_backward_case c{.shape = {.rank = 2, .rows = rows, .width = width}};
  c.type = type, c.kind = kind;
  c.dr = true;
  return c;
}

// The column of the largest sum: small ones are uncertain by more of their last places.
std::int64_t largest(tensor const& x) {
  std::int64_t best = 0;
  for (std::int64_t col = 1; col < x.cols(); ++col)
    if (std::fabs(result_at(x, 0, col)) > std::fabs(result_at(x, 0, best))) best = col;
  return best;
}

TEST_CASE("one fault in a gradient of norm is found") {
  for (dtype const type : {dtype::bf16, dtype::fp16, dtype::fp32})
    for (tk_norm_kind const kind : {TK_NORM_LAYER, TK_NORM_RMS}) {
      norm_backward_operands x(case_of(6, 193, type, kind));
      check_faults_found(x, 190, type == dtype::fp32 ? 100 : 2);
      for (auto const* out : {&x.dweight, &x.dbias}) {
        std::int64_t const col = largest(*out);
        int const steps = type == dtype::fp32 ? 100 : 2;
        wants_complaint("last places", x, *out, 0, [&] { nudge(*out, 0, col, steps); });
        wants_complaint("not written", x, *out, 0, [&] { put(*out, 0, col, std::nan("")); });
        wants_complaint("zero", x, *out, 0, [&] { put(*out, 0, col, 0); });
      }
      auto const other = kind == TK_NORM_RMS ? TK_NORM_LAYER : TK_NORM_RMS;
      check_field_matters(x, &norm_backward_case::kind, other);
      check_field_matters(x, &norm_backward_case::eps, 1e-2f);
      check_field_matters(x, &norm_backward_case::dr, false);
      check_field_matters(x, &norm_backward_case::weight, false);
    }
}

// As if the launch had added a row too many, or the last one twice.
TEST_CASE("a row too many in the sums is found, one too few, one twice") {
  for (dtype const type : {dtype::bf16, dtype::fp16, dtype::fp32})
    for (bool const weight : {true, false}) {
      auto c = case_of(2000, 64, type, TK_NORM_LAYER);
      c.dweight = weight, c.dbias = !weight;
      norm_backward_operands x(c);
      REQUIRE(launch_twice(x) == "");
      REQUIRE(compare(x).wrong == "");
      column_sums sums(x.of.shape.width);
      auto meters = meters_of(x);
      for (std::int64_t row = 0; row < x.of.shape.rows; ++row) add_row(x, row, meters, &sums);
      CHECK(judge_sums(x, sums).wrong == "");
      add_row(x, 7, meters, &sums);
      CHECK(!judge_sums(x, sums).ok());
      x.of.shape.rows -= 1;
      CHECK(!compare(x).ok());
    }
}

}  // namespace
}  // namespace tk::test
