// SPDX-License-Identifier: MIT
// Of ops that go row by row (row_suite.hpp): a right result passes, and a right result with one
// fault in it does not.
#pragma once
#include "tests/support/row_suite.hpp"
#include "tests/support/spoil.hpp"

namespace tk::test {

// `col` of the last row is neither 0 nor where a fault of `steps` numbers may be right; of numbers
// for each row there is one column. fp32 outputs beside those of another type take `fp32_steps`.
template <row_operands X>
void check_faults_found(X& x, std::int64_t col_of_rows, int steps, int fp32_steps = 0) {
  REQUIRE(launch_twice(x) == "");
  REQUIRE(compare(x).wrong == "");
  for_each_output(x, [&](auto const& t, std::size_t) {
    tensor const& out = x.*t.is;
    auto const row = x.of.shape.all_rows() - 1, col = std::min(col_of_rows, out.cols() - 1);
    int const by = out.type == dtype::fp32 && fp32_steps ? fp32_steps : steps;
    wants_complaint("a place", x, out, row, [&] { nudge(out, row, col, by); });
    wants_complaint("not written", x, out, row, [&] { put(out, row, col, std::nan("")); });
    wants_complaint("zero", x, out, row, [&] { put(out, row, col, 0); });
    wants_complaint("the row above", x, out, row, [&] {
      auto const other = row_bytes(out, row - 1);
      std::copy(other.begin(), other.end(), out.result_row(row));
    });
  });
  CHECK(compare(x).wrong == "");
}

// As if the launch had taken another value of a field of the case.
template <row_operands X, class Field, class Value>
void check_field_matters(X& x, Field field, Value other) {
  auto const was = x.of.*field;
  x.of.*field = other;
  CHECK(!compare(x).ok());
  x.of.*field = was;
  CHECK(compare(x).wrong == "");
}

}  // namespace tk::test
