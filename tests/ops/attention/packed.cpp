// SPDX-License-Identifier: MIT
// timeout: 600
// Packed sequences: of every length, with options, each the same bit for bit as alone; offsets that
// are wrong write nothing outside, and what is in one sequence stays there.
#include "tests/ops/attention/option_cases.hpp"
#include "tests/ops/attention/options_oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

TEST_CASE("packed sequences of every length") { run_table("lengths", packed_lengths()); }
TEST_CASE("packed sequences with lengths at most") { run_table("limits", packed_limits()); }

bool same_row(option_operands const& x, std::int64_t row, option_operands const& y,
              std::int64_t other) {
  auto const bytes = static_cast<std::size_t>(x.of.dv * bytes_of(x.of.type));
  return std::memcmp(x.o.result_row(row), y.o.result_row(other), bytes) == 0;
}

TEST_CASE("a packed sequence has the bits that it has alone") {
  lengths const nq{33, 130, 1, 77}, nk{45, 200, 300, 77};
  std::int64_t rows = 0, different = 0;
  for (std::int64_t const d : {64, 128, 256}) {
    auto c = packed(nq, nk);
    c.d = c.dv = d;
    c.mask = d == 128 ? TK_MASK_NONE : TK_MASK_CAUSAL;
    c.softcap = d == 256 ? 5.f : 0.f;
    option_operands all(c);
    REQUIRE(launch_twice(all) == "");
    for (std::int64_t s = 0; s < c.b; ++s) {
      auto const i = static_cast<std::size_t>(s);
      auto one = packed({nq[i]}, {nk[i]});
      one.d = one.dv = d, one.mask = c.mask, one.softcap = c.softcap;
      option_operands alone(one);
      auto const of = span_of(c, s);
      auto const copy = [&](tensor& to, tensor const& from, std::int64_t first,
                            std::int64_t count) {
        for (std::int64_t r = 0; r < count; ++r)
          std::memcpy(to.image_row(r), from.image_row(first + r),
                      static_cast<std::size_t>(d * bytes_of(c.type)));
      };
      copy(alone.q, all.q, of.q * c.hq, of.nq * c.hq);
      copy(alone.k, all.k, of.k * c.hk, of.nk * c.hk);
      copy(alone.v, all.v, of.k * c.hk, of.nk * c.hk);
      REQUIRE(launch_twice(alone) == "");
      for (std::int64_t r = 0; r < of.nq * c.hq; ++r, ++rows)
        different += !same_row(all, of.q * c.hq + r, alone, r);
      for (std::int64_t h = 0; h < c.hq; ++h)
        different += std::memcmp(all.lse_at(s, 0, h), alone.lse_at(0, 0, h),
                                 static_cast<std::size_t>(4 * of.nq)) != 0;
    }
  }
  CHECK(rows == 3 * 2 * (33 + 130 + 1 + 77));
  CHECK(different == 0);
}

TEST_CASE("NaN in one packed sequence stays there") {
  for (std::int64_t const d : {64, 128, 256})
    for (auto const mask : {TK_MASK_NONE, TK_MASK_CAUSAL}) {
      auto c = packed({20, 70, 31}, {37, 70, 90});
      c.d = c.dv = d, c.mask = mask;
      option_operands x(c);
      auto const bad = span_of(c, 1);
      for (auto* const t : {&x.k, &x.v})
        for (std::int64_t r = bad.k * c.hk; r < (bad.k + bad.nk) * c.hk; ++r)
          for (std::int64_t col = 0; col < d; ++col) set(*t, r, col, std::nan(""));
      for (std::int64_t r = bad.q * c.hq; r < (bad.q + bad.nq) * c.hq; ++r)
        for (std::int64_t col = 0; col < d; ++col) set(x.q, r, col, HUGE_VAL);
      REQUIRE(launch_twice(x) == "");
      std::int64_t wrong = 0, reached = 0;
      for (std::int64_t r = 0; r < x.o.rows(); ++r) {
        bool const inside = r >= bad.q * c.hq && r < (bad.q + bad.nq) * c.hq;
        double const value = decode(c.type, x.o.result_row(r));
        (inside ? reached : wrong) += !std::isfinite(value);
      }
      CHECK(wrong == 0);
      CHECK(reached == bad.nq * c.hq);
    }
}

// Whatever the offsets, only elements of o and lse are written, and the launches end.
TEST_CASE("wrong offsets touch nothing outside") {
  for (auto const& x : packed_wrongly()) {
    INFO(describe(x));
    option_operands operands(x);
    REQUIRE(launch_wrongly(operands) == "");
    REQUIRE(check_untouched(operands.memories, {operands.o, operands.lse}) == "");
  }
}

}  // namespace
}  // namespace tk::test
