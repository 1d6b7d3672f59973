// SPDX-License-Identifier: MIT
// What no pair of a row and a key that it sees has: values before a row that sees no key, which is
// 0 whatever they are; a bias in rows and columns of no sequence, where it may be anything.
#include "tests/ops/attention/backward_options_oracle.hpp"
#include "tests/ops/attention/backward_oracle.hpp"
#include "tests/ops/attention/oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

bool is_zero(tensor const& x, std::int64_t row) {
  std::vector<double> values(static_cast<std::size_t>(x.cols()));
  read_row(x.type, x.result_row(row), x.cols(), values.data());
  return values == std::vector<double>(values.size());
}

void spoil(tensor& x, std::int64_t row, double value) {
  for (std::int64_t c = 0; c < x.cols(); ++c) set(x, row, c, value);
}

TEST_CASE("a row that sees no key is 0, whatever is in v") {
  for (std::int64_t const d : {64, 128, 256}) {
    attention_case c{.b = 1, .hq = 1, .hk = 1, .nq = 300, .nk = 10, .d = d, .dv = d};
    c.mask = TK_MASK_CAUSAL;
    attention_operands x(c);
    for (std::int64_t key = 0; key < c.nk; ++key) spoil(x.v, key, key ? HUGE_VAL : std::nan(""));
    REQUIRE(launch_twice(x) == "");
    for (std::int64_t row = 0; row < 290; ++row) {
      CHECK(is_zero(x.o, row));
      CHECK(decode(dtype::fp32, x.lse.result_row(0) + row * 4) == -HUGE_VAL);
    }
    for (std::int64_t row = 290; row < c.nq; ++row) CHECK(!is_zero(x.o, row));
  }
}

TEST_CASE("so it is beside a window, sinks and a softcap") {
  for (std::int64_t const d : {64, 128, 256})
    for (int const options : {0, 1, 2, 3}) {
      option_case c{.nq = 300, .nk = 40, .d = d, .dv = d};
      c.mask = TK_MASK_CAUSAL, c.left = 25;
      c.sinks = options % 2 != 0, c.softcap = options / 2 ? 5.f : 0.f;
      option_operands x(c);
      for (std::int64_t key = 0; key < c.nk; ++key) spoil(x.v, key, std::nan(""));
      REQUIRE(launch_twice(x) == "");
      for (std::int64_t row = 0; row < 260; ++row) CHECK(is_zero(x.o, row));
      for (std::int64_t row = 260; row < c.nq; ++row) CHECK(!is_zero(x.o, row));
    }
}

TEST_CASE("dq of a row that sees no key is +0, beside whichever rows, and whatever the scale is") {
  for (std::int64_t const d : {64, 128, 256}) {
    attention_case c{.b = 1, .hq = 1, .hk = 1, .nq = 300, .nk = 10, .d = d, .dv = d};
    c.mask = TK_MASK_CAUSAL, c.scale = -0.125f;
    attention_backward_operands x({c});
    REQUIRE(launch_twice(x) == "");
    for (std::int64_t row = 0; row < 290; ++row) {
      std::vector<double> dq(static_cast<std::size_t>(d));
      read_row(c.type, x.dq.result_row(row), d, dq.data());
      CHECK(std::none_of(dq.begin(), dq.end(), [](double e) { return e != 0 || std::signbit(e); }));
    }
  }
}

// Bias of the pairs that no sequence has.
void spoil_bias(option_operands& x, double value) {
  std::int64_t const b = x.bias.shape[0], rows = x.bias.shape[2], cols = x.bias.shape[3];
  for (std::int64_t r = 0; r < x.bias.rows(); ++r)
    for (std::int64_t c = 0; c < cols; ++c) {
      auto const of = span_of(x.of, r / (x.bias.rows() / b));
      if (r % rows >= of.nq || c >= of.nk) set(x.bias, r, c, value);
    }
}

TEST_CASE("a bias may be anything in rows and columns of no sequence") {
  for (std::int64_t const d : {64, 128, 256})
    for (double const value : {std::nan(""), HUGE_VAL}) {
      backward_option_case c;
      c.of = {.b = 3, .hq = 2, .hk = 1, .nq = 170, .nk = 220, .d = d, .dv = d};
      c.of.q_starts = {0, 40, 150, 170}, c.of.k_starts = {0, 110, 150, 220};
      c.of.max_nq = 110, c.of.max_nk = 110;
      c.of.bias = bias_use::fp32, c.of.one_bias_head = true;
      backward_option_operands x(c);
      spoil_bias(x, value);
      REQUIRE(launch_twice(x) == "");
      auto const v = compare(x);
      CHECK(v.wrong == "");
      for (std::int64_t r = 0; r < x.dbias.rows(); ++r) {
        auto const of = span_of(x.of, r / c.of.max_nq);
        for (std::int64_t col = 0; col < c.of.max_nk; ++col)
          if (r % c.of.max_nq >= of.nq || col >= of.nk)
            CHECK(decode(dtype::fp32, x.dbias.result_row(r) + 4 * col) == 0);
      }
    }
}

}  // namespace
}  // namespace tk::test
