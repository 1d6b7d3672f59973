// SPDX-License-Identifier: MIT
// What a row does not see does not reach it: NaN in other batches and heads, and in values past the
// last key that it sees, or before the first of a window, but for those within 512 keys of it
// (attention_forward.h); NaN in keys themselves that it does not see, however near. A score of -inf
// counts as a key unseen.
#include "tests/ops/attention/options.hpp"
#include "tests/ops/attention/oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr std::int64_t within = 512;

bool is_finite(attention_operands const& x, std::int64_t row) {
  std::vector<double> o(static_cast<std::size_t>(x.of.dv));
  read_row(x.of.type, x.o.result_row(row), x.of.dv, o.data());
  return std::all_of(o.begin(), o.end(), [](double v) { return std::isfinite(v); });
}

void spoil(tensor& x, std::int64_t row, double value) {
  for (std::int64_t c = 0; c < x.cols(); ++c) set(x, row, c, value);
}

TEST_CASE("NaN in one batch and head stays there") {
  for (std::int64_t const d : {64, 128, 256}) {
    attention_case c{.b = 2, .hq = 2, .hk = 2, .nq = 70, .nk = 90, .d = d, .dv = d};
    attention_operands x(c);
    for (std::int64_t key = 0; key < c.nk; ++key) {
      spoil(x.k, (c.nk + key) * c.hk + 1, std::nan(""));
      spoil(x.v, (c.nk + key) * c.hk + 1, HUGE_VAL);
    }
    REQUIRE(launch_twice(x) == "");
    std::int64_t wrong = 0, reached = 0;
    for (std::int64_t row = 0; row < c.nq; ++row)
      for (std::int64_t head = 0; head < 4; ++head) {  // of both batches
        bool const finite = is_finite(x, (head / 2 * c.nq + row) * c.hq + head % 2);
        wrong += head < 3 && !finite;
        reached += head == 3 && !finite;
      }
    CHECK(wrong == 0);
    CHECK(reached == c.nq);
  }
}

TEST_CASE("NaN in values far past the last key that a row sees") {
  for (std::int64_t const d : {64, 128, 256}) {
    attention_case c{.b = 1, .hq = 1, .hk = 1, .nq = 600, .nk = 600, .d = d, .dv = d};
    c.mask = TK_MASK_CAUSAL;
    attention_operands x(c);
    std::int64_t const first = 560;
    for (std::int64_t key = first; key < c.nk; ++key) spoil(x.v, key, std::nan(""));
    REQUIRE(launch_twice(x) == "");
    std::int64_t wrong = 0, reached = 0;
    for (std::int64_t row = 0; row < c.nq; ++row) {
      bool const finite = is_finite(x, row);
      wrong += row + within <= first && !finite;
      reached += row >= first && !finite;
    }
    CHECK(wrong == 0);
    CHECK(reached == c.nq - first);
  }
}

// A score that is masked does not count, whatever it is: keys may be bad just outside of what a row
// sees. Without and with options that change scores.
TEST_CASE("NaN in keys right after the last one that a row sees, or before the first") {
  constexpr std::int64_t n = 340, first = 150, last = 170;  // of the bad keys
  for (std::int64_t const d : {64, 128, 256})
    for (auto const mask : {TK_MASK_NONE, TK_MASK_CAUSAL})
      for (float const softcap : {0.f, 5.f}) {
        option_case c{.nq = n, .nk = n, .d = d, .dv = d, .mask = mask};
        if (mask == TK_MASK_NONE) c.left = 30, c.right = 10;
        c.softcap = softcap;
        option_operands x(c);
        for (std::int64_t key = first; key < last; ++key) spoil(x.k, key, std::nan(""));
        REQUIRE(launch_twice(x) == "");
        std::int64_t wrong = 0, reached = 0;
        for (std::int64_t row = 0; row < n; ++row) {
          bool const sees = row + c.right.value_or(0) >= first && row - c.left.value_or(n) < last;
          bool const finite = std::isfinite(decode(c.type, x.o.result_row(row)));
          wrong += !sees && !finite;
          reached += sees && !finite;
        }
        CHECK(wrong == 0);
        CHECK(reached == (mask == TK_MASK_NONE ? 20 + 30 + 10 : n - first));
      }
}

TEST_CASE("NaN in keys and values far outside of a window") {
  for (std::int64_t const d : {64, 128, 256}) {
    option_case c{.nq = 1400, .nk = 1400, .d = d, .dv = d};
    c.left = 30, c.right = 10;
    option_operands x(c);
    std::int64_t const first = 690, last = 710;  // of the bad values
    for (std::int64_t key = first; key < last; ++key)
      for (std::int64_t col = 0; col < d; ++col) {
        set(x.v, key, col, std::nan(""));
        set(x.k, key, col, std::nan(""));
      }
    REQUIRE(launch_twice(x) == "");
    std::int64_t wrong = 0, reached = 0, far = 0;
    for (std::int64_t row = 0; row < c.nq; ++row) {
      bool const finite = std::isfinite(decode(c.type, x.o.result_row(row)));
      bool const sees = row - *c.left < last && row + *c.right >= first;
      bool const is_far = row + *c.right + within < first || row - *c.left - within >= last;
      wrong += is_far && !finite;
      far += is_far;
      reached += sees && !finite;
    }
    CHECK(wrong == 0);
    CHECK(far > 200);
    CHECK(reached == 20 + 30 + 10);
  }
}

TEST_CASE("a score of -inf is a key unseen") {
  for (auto const mask : {TK_MASK_NONE, TK_MASK_CAUSAL}) {
    attention_case c{.b = 1, .hq = 1, .hk = 1, .nq = 50, .nk = 50, .d = 64, .dv = 64};
    c.mask = mask;
    attention_operands x(c);
    for (std::int64_t row = 0; row < c.nq; ++row) set(x.q, row, 0, 1);
    for (std::int64_t key = 0; key < c.nk; ++key)
      if (key != 7) set(x.k, key, 0, -HUGE_VAL);
    REQUIRE(launch_twice(x) == "");
    for (std::int64_t row = 0; row < c.nq; ++row) {
      bool const sees = mask == TK_MASK_NONE || row >= 7;
      std::vector<double> o(64), v(64);
      read_row(c.type, x.o.result_row(row), 64, o.data());
      read_row(c.type, x.v.image_row(7), 64, v.data());
      if (!sees) std::fill(v.begin(), v.end(), 0);
      CHECK(o == v);
      double const lse = decode(dtype::fp32, x.lse.result_row(0) + row * 4);
      CHECK(std::isinf(lse) == !sees);
    }
  }
}

}  // namespace
}  // namespace tk::test
