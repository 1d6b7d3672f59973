// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the way of checking.
#include "tests/ops/linear_cross_entropy/linear_cross_entropy.hpp"
#include "tests/support/spoil.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

template <class Field, class Value>
void check_field_matters(linear_operands& x, Field field, Value other) {
  auto const was = x.of.*field;
  x.of.*field = other;
  CHECK(!compare(x).ok());
  x.of.*field = was;
  CHECK(compare(x).wrong == "");
}

// The column of the largest number of a row.
std::int64_t largest(tensor const& t, std::int64_t row) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < t.cols(); ++i)
    if (std::fabs(result_at(t, row, i)) > std::fabs(result_at(t, row, best))) best = i;
  return best;
}

TEST_CASE("one fault in linear_cross_entropy is found") {
  for (auto const type : {dtype::bf16, dtype::fp16})
    for (bool const options : {false, true}) {
      linear_case c{.shape = {.rank = 2, .rows = 13, .width = 150}, .type = type, .chunk_rows = 5};
      c.store_lse = c.store_dx = c.store_dw = true;
      c.fp32_dx = c.fp32_dw = options;
      if (options) c.smoothing = 0.1f, c.z_loss = 0.01f, c.softcap = 5;
      linear_operands x(c);
      REQUIRE(launch_twice(x) == "");
      REQUIRE(compare(x).wrong == "");
      for (auto const* t : {&x.loss, &x.lse, &x.dx, &x.dw}) {
        std::int64_t const row = t == &x.dw ? 77 : 11, col = largest(*t, row);
        double const value = result_at(*t, row, col);
        wants_complaint("off by a tenth", x, *t, row, [&] { put(*t, row, col, value * 1.1); });
        wants_complaint("not written", x, *t, row, [&] { put(*t, row, col, std::nan("")); });
        wants_complaint("zero", x, *t, row, [&] { put(*t, row, col, 0); });
        wants_complaint("the row above", x, *t, row, [&] {
          auto const other = row_bytes(*t, row - 1);
          std::copy(other.begin(), other.end(), t->result_row(row));
        });
      }
      using of = linear_case;
      check_field_matters(x, &of::smoothing, c.smoothing + 0.01f);
      check_field_matters(x, &of::z_loss, c.z_loss + 0.01f);
      check_field_matters(x, &of::softcap, 6.f);
      check_field_matters(x, &of::dloss_scale, 1.2f);
    }
}

// As if the last chunk had taken the place of all, or had not been added.
TEST_CASE("a chunk that is missing from dw is found") {
  linear_case c{.shape = {.rank = 2, .rows = 12, .width = 90}, .chunk_rows = 4};
  c.store_dw = true;
  linear_operands x(c);
  REQUIRE(launch_twice(x) == "");
  REQUIRE(compare(x).wrong == "");
  for (std::int64_t const first : {0, 8}) {
    linear_case few = c;
    few.shape.rows = 4;
    linear_operands part(few);
    for (std::int64_t row = 0; row < 4; ++row) {
      auto const values = given_row(x.x, first + row);
      for (std::int64_t i = 0; i < c.d; ++i)
        set(part.x, row, i, values[static_cast<std::size_t>(i)]);
      set(part.labels, row, 0, given_row(x.labels, first + row)[0]);
    }
    REQUIRE(launch_twice(part) == "");
    auto const row = static_cast<std::int64_t>(given_row(x.labels, 5)[0]);
    wants_complaint("a part of dw", x, x.dw, row, [&] {
      auto const other = row_bytes(part.dw, row);
      std::copy(other.begin(), other.end(), x.dw.result_row(row));
    });
  }
}

}  // namespace
}  // namespace tk::test
