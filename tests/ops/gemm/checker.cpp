// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the way of checking.
#include "tests/ops/gemm/oracle.hpp"
#include "tests/support/spoil.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

TEST_CASE("one fault in a product is found") {
  std::vector<gemm_case> cases;
  for (dtype const out : {dtype::bf16, dtype::fp16, dtype::fp32})
    for (data const values : {data::integers, data::reals, data::sparse})
      cases.push_back({.m = 70, .n = 45, .k = 33, .batch = 2, .out = out, .values = values});
  for (check_kind const kind : {check_kind::some_rows, check_kind::probe}) {
    cases.push_back({.m = 300, .n = 40, .k = 24, .out = dtype::fp32});
    cases.back().check = kind;
    cases.back().values = kind == check_kind::probe ? data::sparse : data::reals;
  }
  for (auto const& c : cases) {
    gemm_operands x(c);
    REQUIRE(launch_twice(x) == "");
    REQUIRE(compare(x).wrong == "");
    // The last row is always among those that are checked.
    std::int64_t const row = x.d.rows() - 1, col = c.n - 2;
    bool const exact = c.values != data::reals;
    int const steps = exact ? 1 : c.out == dtype::fp32 ? 200 : 2;
    wants_complaint("last place", x, x.d, row, [&] { nudge(x.d, row, col, steps); });
    wants_complaint("not written", x, x.d, row, [&] { put(x.d, row, col, std::nan("")); });
    wants_complaint("infinite", x, x.d, row, [&] { put(x.d, row, 0, HUGE_VAL); });
    wants_complaint("swapped", x, x.d, row, [&] {
      double values[2];
      read_row(x.d.type, x.d.result_row(row), 2, values);
      put(x.d, row, 0, values[1] == values[0] ? values[0] + 1 : values[1]);
      put(x.d, row, 1, values[0]);
    });
    wants_complaint("the row above", x, x.d, row, [&] {
      auto const other = row_bytes(x.d, row - 1);
      std::copy(other.begin(), other.end(), x.d.result_row(row));
    });
    CHECK(compare(x).wrong == "");
  }
}

TEST_CASE("bytes that are no output are watched") {
  gemm_case c{.m = 20, .n = 30, .k = 10};
  c.d_layout.padding = 5;
  std::int64_t const row = 35 * 2, gap = 30 * 2 + 3;
  for (std::int64_t const at :
       {gap, 7 * row + gap, std::int64_t{-1}, -memory::guard, 19 * row + gap - 3}) {
    gemm_operands x(c);
    REQUIRE(launch_twice(x) == "");
    x.d.in->result()[at] ^= std::byte{1};
    CHECK(x.d.in->first_change());
    CHECK(check_untouched(x.memories, {x.d}) != "");
  }
  gemm_operands x(c);
  REQUIRE(launch_twice(x) == "");
  CHECK(check_untouched(x.memories, {x.d}) == "");
  x.b.in->image()[5] ^= std::byte{1};  // as if the launch had changed b
  CHECK(check_untouched(x.memories, {x.d}) != "");
}

}  // namespace
}  // namespace tk::test
