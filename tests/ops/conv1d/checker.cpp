// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the way of checking.
#include "tests/ops/conv1d/conv1d.hpp"
#include "tests/ops/conv1d/conv1d_backward.hpp"
#include "tests/support/row_faults.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr dtype types[] = {dtype::bf16, dtype::fp16, dtype::fp32};

template <class Case> Case case_of(dtype type, bool silu) {
  Case c;
  c.shape = {.rank = 3, .h = 2, .rows = 20, .width = 193};
  c.type = type;
  c.silu = silu;
  return c;
}
// A column of a row whose number is not near 0.
std::int64_t telling_column(tensor const& x, std::int64_t row) {
  std::int64_t best = 0;
  for (std::int64_t col = 1; col < x.cols(); ++col)
    if (std::fabs(result_at(x, row, col)) > std::fabs(result_at(x, row, best))) best = col;
  return best;
}
template <class Operands>
void check_other_faults(Operands const& x, tensor const& out, std::int64_t row, int steps) {
  auto const col = telling_column(out, row);
  wants_complaint("last places", x, out, row, [&] { nudge(out, row, col, steps); });
  wants_complaint("not written", x, out, row, [&] { put(out, row, col, std::nan("")); });
  wants_complaint("zero", x, out, row, [&] { put(out, row, col, 0); });
}

TEST_CASE("one fault in conv1d is found") {
  for (auto const type : types)
    for (bool const silu : {false, true}) {
      conv1d_operands x(case_of<conv1d_case>(type, silu));
      REQUIRE(launch_twice(x) == "");
      check_faults_found(x, telling_column(x.y, 39), type == dtype::fp32 ? 100 : 2);
      check_other_faults(x, x.final, 4, 1);
      check_field_matters(x, &conv1d_case::silu, !silu);
      auto const was = x.numbers;
      x.numbers.bias[17] += 0.5;
      CHECK(!compare(x).ok());
      x.numbers = was;
      std::swap(x.numbers.weight[5][0], x.numbers.weight[5][3]);
      CHECK(!compare(x).ok());
    }
}

TEST_CASE("one fault in conv1d's backward is found") {
  for (auto const type : types)
    for (bool const silu : {false, true}) {
      conv1d_backward_operands x(case_of<conv1d_backward_case>(type, silu));
      REQUIRE(launch_twice(x) == "");
      int const steps = type == dtype::fp32 ? 200 : 2;
      check_faults_found(x, telling_column(x.dx, 39), steps);
      check_other_faults(x, x.dinitial, 4, steps);
      check_other_faults(x, x.dweight, 7, 2000);
      check_other_faults(x, x.dbias, 0, 2000);
      check_field_matters(x, &conv1d_backward_case::silu, !silu);
      // A token more, or less, in the sums.
      auto sums = sums_of(x);
      CHECK(judge_sums(x, sums).ok());
      sums.add(x, span_of(x.of, 1), 7);
      CHECK(!judge_sums(x, sums).ok());
    }
}

TEST_CASE("a token of no sequence must not be written") {
  auto c = case_of<conv1d_case>(dtype::bf16, true);
  c.shape.h = 1;
  c.starts = {2, 9, 18};
  conv1d_operands x(c);
  REQUIRE(launch_twice(x) == "");
  REQUIRE(compare(x).wrong == "");
  wants_complaint("a token before all", x, x.y, 1, [&] { put(x.y, 1, 7, 0.5); });
}

}  // namespace
}  // namespace tk::test
