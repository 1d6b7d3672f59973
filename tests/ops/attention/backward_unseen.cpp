// SPDX-License-Identifier: MIT
// What a gradient does not depend on does not reach it: NaN in other batches and heads, and, past
// what a mask lets be seen, in keys, values, queries and gradients further away than 512
// (attention_backward.h).
#include "tests/ops/attention/backward_oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr std::int64_t within = 512;

bool is_finite(tensor const& x, std::int64_t row) {
  std::vector<double> values(static_cast<std::size_t>(x.cols()));
  read_row(x.type, x.result_row(row), x.cols(), values.data());
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

void spoil(tensor& x, std::int64_t row, double value) {
  for (std::int64_t c = 0; c < x.cols(); ++c) set(x, row, c, value);
}

TEST_CASE("NaN in one batch and key head stays there") {
  for (std::int64_t const d : {64, 128, 256}) {
    attention_case const c{.b = 2, .hq = 4, .hk = 2, .nq = 70, .nk = 150, .d = d, .dv = d};
    attention_backward_operands x({c});
    for (std::int64_t key = 0; key < c.nk; ++key) {
      spoil(x.k, row_of_head(x.k, 1, 1, key), std::nan(""));
      spoil(x.v, row_of_head(x.v, 1, 1, key), HUGE_VAL);
    }
    REQUIRE(launch_twice(x) == "");
    for (auto const* out : {&x.dq, &x.dk, &x.dv}) {
      std::int64_t const heads = out->shape[2];
      std::int64_t wrong = 0, reached = 0;
      for (std::int64_t b = 0; b < c.b; ++b)
        for (std::int64_t h = 0; h < heads; ++h)
          for (std::int64_t i = 0; i < out->shape[1]; ++i) {
            bool const spoiled = b == 1 && h >= heads / 2;
            bool const finite = is_finite(*out, row_of_head(*out, b, h, i));
            wrong += !spoiled && !finite;
            reached += spoiled && !finite;
          }
      CHECK(wrong == 0);
      CHECK(reached == heads / 2 * out->shape[1]);
    }
  }
}

TEST_CASE("NaN in one query reaches its own dq and no other") {
  for (std::int64_t const d : {64, 128, 256}) {
    attention_case const c{.b = 1, .hq = 1, .hk = 1, .nq = 200, .nk = 300, .d = d, .dv = d};
    attention_backward_operands x({c});
    spoil(x.dout, 77, std::nan(""));
    REQUIRE(launch_twice(x) == "");
    for (std::int64_t i = 0; i < c.nq; ++i) CHECK(is_finite(x.dq, i) == (i != 77));
    for (std::int64_t j = 0; j < c.nk; ++j) CHECK(is_finite(x.dv, j) == false);
  }
}

TEST_CASE("NaN in keys and values far past the last one that a row sees") {
  for (std::int64_t const d : {64, 128, 256}) {
    attention_case c{.b = 1, .hq = 1, .hk = 1, .nq = 600, .nk = 600, .d = d, .dv = d};
    c.mask = TK_MASK_CAUSAL;
    attention_backward_operands x({c});
    std::int64_t const first = 560;
    for (std::int64_t key = first; key < c.nk; ++key)
      spoil(x.k, key, std::nan("")), spoil(x.v, key, std::nan(""));
    REQUIRE(launch_twice(x) == "");
    std::int64_t wrong = 0, reached = 0;
    for (std::int64_t row = 0; row < c.nq; ++row) {
      bool const finite = is_finite(x.dq, row);
      wrong += row + within <= first && !finite;
      reached += row >= first && !finite;
    }
    CHECK(wrong == 0);
    CHECK(reached == c.nq - first);
    // A key's gradients are sums over queries of products with it alone.
    for (std::int64_t key = 0; key < first; ++key)
      CHECK((is_finite(x.dk, key) && is_finite(x.dv, key)) == true);
  }
}

TEST_CASE("NaN in queries far before the first one that sees a key") {
  for (std::int64_t const d : {64, 128, 256}) {
    attention_case c{.b = 1, .hq = 1, .hk = 1, .nq = 600, .nk = 600, .d = d, .dv = d};
    c.mask = TK_MASK_CAUSAL;
    attention_backward_operands x({c});
    std::int64_t const end = 40;
    for (std::int64_t row = 0; row < end; ++row)
      for (auto* t : {&x.q, &x.o, &x.dout}) spoil(*t, row, std::nan(""));
    REQUIRE(launch_twice(x) == "");
    std::int64_t wrong = 0, reached = 0;
    for (std::int64_t key = 0; key < c.nk; ++key)
      for (auto const* out : {&x.dk, &x.dv}) {
        bool const finite = is_finite(*out, key);
        wrong += key >= end - 1 + within && !finite;
        reached += key < end && !finite;
      }
    CHECK(wrong == 0);
    CHECK(reached == 2 * end);
    for (std::int64_t row = 0; row < c.nq; ++row) CHECK(is_finite(x.dq, row) == (row >= end));
  }
}

TEST_CASE("a row with lse = -inf gives and takes nothing, whatever o is") {
  attention_case const c{.b = 1, .hq = 1, .hk = 1, .nq = 90, .nk = 60, .d = 64, .dv = 64};
  attention_backward_operands x({c});
  REQUIRE(launch_twice(x) == "");
  for (std::int64_t row = 0; row < c.nq; row += 3) set(x.lse, 0, row, -HUGE_VAL);
  REQUIRE(launch_twice(x) == "");
  auto const v = compare(x);
  CHECK(v.wrong == "");
  for (std::int64_t row = 0; row < c.nq; row += 3) {
    std::vector<double> dq(64);
    read_row(c.type, x.dq.result_row(row), 64, dq.data());
    CHECK(dq == std::vector<double>(64));
  }
}

}  // namespace
}  // namespace tk::test
