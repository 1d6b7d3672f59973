// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not.
#include "tests/ops/attention/backward_oracle.hpp"
#include "tests/support/spoil.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

attention_backward_case small(dtype type, tk_mask mask) {
  attention_case x{.b = 2, .hq = 4, .hk = 2, .nq = 70, .nk = 190, .d = 64, .dv = 64};
  x.type = type, x.mask = mask;
  return {x};
}

// The column of a row's largest element: small ones are uncertain by more of their last places.
std::int64_t largest(tensor const& x, std::int64_t row) {
  std::vector<double> values(static_cast<std::size_t>(x.cols()));
  read_row(x.type, x.result_row(row), x.cols(), values.data());
  return std::max_element(values.begin(), values.end(),
                          [](double a, double b) { return std::fabs(a) < std::fabs(b); }) -
         values.begin();
}

TEST_CASE("one fault in a gradient is found") {
  for (dtype const type : {dtype::bf16, dtype::fp16})
    for (tk_mask const mask : {TK_MASK_NONE, TK_MASK_CAUSAL}) {
      attention_backward_operands x(small(type, mask));
      REQUIRE(launch_twice(x) == "");
      REQUIRE(compare(x).wrong == "");
      for (auto const* out : {&x.dq, &x.dk, &x.dv}) {
        std::int64_t const row = out->rows() - 1, col = largest(*out, row);
        // Rounding p and ds makes a sum of random terms uncertain by some last places.
        wants_complaint("last places", x, *out, row, [&] { nudge(*out, row, col, 32); });
        wants_complaint("not written", x, *out, row, [&] { put(*out, row, 0, std::nan("")); });
        wants_complaint("another head", x, *out, row, [&] {
          auto const other = row_bytes(*out, row - 1);
          std::copy(other.begin(), other.end(), out->result_row(row));
        });
      }
      CHECK(compare(x).wrong == "");
    }
}

// As if a launch had left out what the oracle does not: it is given other operands.
TEST_CASE("a query or key too few or too many is found") {
  for (tk_mask const mask : {TK_MASK_NONE, TK_MASK_CAUSAL})
    for (dtype const type : {dtype::bf16, dtype::fp16}) {
      attention_backward_operands x(small(type, mask));
      REQUIRE(launch_twice(x) == "");
      REQUIRE(compare(x).wrong == "");
      x.of.mask = mask == TK_MASK_NONE ? TK_MASK_CAUSAL : TK_MASK_NONE;
      CHECK(!compare(x).ok());
      x.of.mask = mask;
      std::int64_t const query = row_of_head(x.q, 1, 3, x.of.nq - 1);
      double const was = decode(dtype::fp32, x.lse.image_row(7) + (x.of.nq - 1) * 4);
      set(x.lse, 7, x.of.nq - 1, -HUGE_VAL);
      CHECK(!compare(x).ok());
      set(x.lse, 7, x.of.nq - 1, was);
      CHECK(compare(x).wrong == "");
      for (std::int64_t c = 0; c < x.of.dv; ++c) set(x.dout, query, c, 0);
      CHECK(!compare(x).ok());
    }
}

// A block of keys that is missing from dq, or counted twice, shifts every element of it a little.
TEST_CASE("an error that is small everywhere is found") {
  attention_backward_operands x(small(dtype::bf16, TK_MASK_NONE));
  REQUIRE(launch_twice(x) == "");
  for (auto const* out : {&x.dq, &x.dk, &x.dv}) {
    std::vector<std::vector<std::byte>> good;
    for (std::int64_t r = 0; r < out->rows(); ++r) {
      good.push_back(row_bytes(*out, r));
      for (std::int64_t c = 0; c < out->cols(); ++c) nudge(*out, r, c, 1);
    }
    CHECK(!compare(x).ok());
    for (std::int64_t r = 0; r < out->rows(); ++r)
      std::copy(good[static_cast<std::size_t>(r)].begin(), good[static_cast<std::size_t>(r)].end(),
                out->result_row(r));
  }
  CHECK(compare(x).wrong == "");
}

}  // namespace
}  // namespace tk::test
