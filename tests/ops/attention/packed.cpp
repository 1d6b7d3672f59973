// SPDX-License-Identifier: MIT
// timeout: 600
// Packed sequences: of every length, with options, each the same bit for bit as alone; offsets that
// are wrong write nothing outside, and what is in one sequence stays there.
#include "tests/ops/attention/options_oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

using lengths = std::vector<std::int32_t>;

std::vector<std::int32_t> starts_of(lengths const& n, std::int32_t first = 0) {
  std::vector<std::int32_t> starts{first};
  for (auto const x : n) starts.push_back(starts.back() + x);
  return starts;
}
// `rest` rows and keys belong to no sequence.
option_case packed(lengths const& nq, lengths const& nk, std::int32_t first = 0,
                   std::int64_t rest = 0) {
  option_case x{.b = static_cast<std::int64_t>(nq.size()), .hq = 2, .hk = 1};
  x.q_starts = starts_of(nq, first);
  x.k_starts = starts_of(nk, first);
  x.nq = x.q_starts.back() + rest;
  x.nk = x.k_starts.back() + rest;
  return x;
}

std::vector<option_case> of_lengths() {
  std::vector<option_case> cases;
  std::vector<std::pair<lengths, lengths>> const all{
      {{1}, {1}},
      {{17, 31}, {17, 31}},
      {{0, 5, 0, 0, 7, 0}, {3, 5, 0, 2, 0, 9}},
      {{1, 1, 1, 1, 1, 1, 1}, {1, 2, 3, 5, 7, 11, 13}},
      {{3, 257, 2, 1}, {5, 307, 1, 64}},
      {{64, 128, 192, 16}, {64, 128, 192, 16}},
      {{127, 65, 129}, {129, 63, 200}},
      {{101, 0, 97, 103}, {101, 40, 97, 103}},
      {{0, 0}, {4, 4}},
  };
  int turn = 0;
  for (auto const& [nq, nk] : all)
    for (int kind = 0; kind < 4; ++kind, ++turn) {
      auto x = packed(nq, nk, kind == 2 ? 3 : 0, kind == 3 ? 10 : 0);
      if (kind % 2) x.mask = TK_MASK_CAUSAL;
      if (kind == 2) x.left = 20, x.right = 5;
      x.type = turn % 3 ? dtype::bf16 : dtype::fp16;
      if (turn % 5 == 1) x.d = x.dv = 128;
      if (turn % 7 == 2) x.d = x.dv = 200;
      if (turn % 4 == 3) x.padding = 3;
      if (turn % 3 == 2) x.alibi = alibi_use::by_batch_and_head, x.sinks = true, x.softcap = 4;
      if (turn % 3 == 1) x.dropout = 0.5f, x.seed = 9;
      cases.push_back(x);
    }
  return cases;
}

// A bias is that of the longest; what is longer still is cut off.
std::vector<option_case> with_limits() {
  std::vector<option_case> cases;
  for (auto const bias : {bias_use::none, bias_use::fp32, bias_use::same})
    for (std::int64_t const most : {0, 40, 70, 300}) {
      auto x = packed({30, 70, 1, 50}, {45, 20, 70, 66});
      x.bias = bias;
      x.max_nq = most, x.max_nk = most ? most + 5 : 0;
      x.one_bias_batch = most == 70;
      cases.push_back(x);
    }
  return cases;
}

TEST_CASE("packed sequences of every length") { run_table("lengths", of_lengths()); }
TEST_CASE("packed sequences with lengths at most") { run_table("limits", with_limits()); }

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
  constexpr std::int32_t low = INT32_MIN, high = INT32_MAX;
  std::vector<std::vector<std::int32_t>> const all{
      {0, 50, 20, 90},        {90, 60, 30, 0},  {-5, 40, 95, 200},        {low, high, low, high},
      {high, low, high, low}, {95, 95, 95, 95}, {1000, 2000, 3000, 4000}, {10, 5, 3, 50}};
  for (auto const& q_starts : all)
    for (auto const& k_starts : all)
      for (std::int64_t const padding : {0, 3}) {
        option_case x{.b = 3, .hq = 2, .hk = 1, .nq = 90, .nk = 93};
        x.q_starts = q_starts, x.k_starts = k_starts, x.padding = padding;
        x.alibi = alibi_use::by_batch_and_head;
        x.bias = bias_use::fp32, x.max_nq = 40, x.max_nk = 45;
        option_operands operands(x);
        auto const wrong = with_problem(operands, [&](auto op, auto const* problem) {
          session s(operands.memories);
          auto text = s.open(op, problem);
          s.reset();
          if (text.empty()) text = s.launch(op, problem);
          be::rt::synchronize();
          return text.empty() ? s.look() : text;
        });
        REQUIRE(wrong == "");
        REQUIRE(check_untouched(operands.memories, {operands.o, operands.lse}) == "");
      }
}

}  // namespace
}  // namespace tk::test
