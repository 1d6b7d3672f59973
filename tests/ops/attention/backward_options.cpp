// SPDX-License-Identifier: MIT
// timeout: 900
// tk_attention_backward with its options: every pair of them together, with packed sequences and
// groups of heads among them, windows at every place around the sizes of tiles, rows that see
// nothing, dropout's replay, rows beside other rows.
#include "tests/ops/attention/backward_options_oracle.hpp"
#include "tests/ops/attention/option_cases.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

std::vector<backward_option_case> cases_of(std::vector<option_case> const& forward) {
  std::vector<backward_option_case> cases;
  for (auto x : forward) {
    auto const turn = cases.size();
    x.lse = true;
    cases.push_back({x, turn % 3 == 1, turn % 5 != 4});
  }
  return cases;
}

TEST_CASE("attention backward with every pair of options") {
  run_table("pairs", cases_of(option_pairs()));
}
TEST_CASE("attention backward in windows") { run_table("windows", cases_of(option_windows())); }
TEST_CASE("attention backward with options at their limits") {
  auto cases = cases_of(option_limits());
  // More heads than there are blocks, so that a block sums those of several; sinks alone.
  option_case heads{.b = 2, .hq = 12, .hk = 6, .nq = 20, .nk = 24};
  heads.sinks = true;
  cases.push_back({heads});
  heads.mask = TK_MASK_CAUSAL, heads.nq = 30;
  cases.push_back({heads});
  run_table("limits", cases);
}

std::int64_t different(tensor const& x, std::int64_t row, tensor const& y, std::int64_t other) {
  return std::memcmp(x.result_row(row), y.result_row(other),
                     static_cast<std::size_t>(x.cols() * bytes_of(x.type))) != 0;
}

// The last rows of a problem, alone: masks and distances are aligned to the last key. (Random bytes
// and a bias follow a row's number, which is another one then.)
TEST_CASE("rows of dq with options do not depend on the other rows") {
  std::int64_t rows = 0, others = 0;
  for (std::int64_t const d : {64, 128, 256}) {
    option_case c{.hq = 2, .hk = 1, .nq = 270, .nk = 300, .d = d, .dv = d};
    c.left = d == 128 ? 40 : 100, c.right = 3, c.softcap = 3, c.sinks = true;
    c.alibi = alibi_use::by_head;
    backward_option_operands all({c});
    REQUIRE(launch_twice(all) == "");
    for (std::int64_t const nq : {1, 17, 65, 130}) {
      auto few = c;
      few.nq = nq;
      backward_option_operands x({few});
      std::int64_t const first = c.nq - nq;
      for (auto const& [to, from] : {std::pair{&x.q, &all.q}, {&x.o, &all.o}, {&x.dout, &all.dout}})
        for (std::int64_t r = 0; r < nq * c.hq; ++r)
          std::memcpy(to->image_row(r), from->image_row(first * c.hq + r),
                      static_cast<std::size_t>(d * bytes_of(c.type)));
      for (std::int64_t h = 0; h < c.hq; ++h)
        std::memcpy(x.lse.image_row(h), all.lse.image_row(h) + 4 * first,
                    static_cast<std::size_t>(4 * nq));
      REQUIRE(launch_twice(x) == "");
      for (std::int64_t r = 0; r < nq * c.hq; ++r, ++rows)
        others += different(x.dq, r, all.dq, first * c.hq + r);
    }
  }
  CHECK(rows == 3 * 2 * (1 + 17 + 65 + 130));
  CHECK(others == 0);
}

TEST_CASE("the backward draws the bytes of the seed, or of the device's state") {
  option_case c{.b = 2, .hq = 2, .hk = 1, .nq = 70, .nk = 90};
  c.dropout = 0.5f, c.seed = 1234, c.offset = 5;
  backward_option_operands x({c});
  REQUIRE(launch_twice(x) == "");
  auto const others_of = [&](option_case const& other) {
    backward_option_operands y({other});
    for (auto const& [to, from] : {std::pair{&y.o, &x.o}, {&y.lse, &x.lse}})
      for (std::int64_t r = 0; r < to->rows(); ++r)
        std::memcpy(to->image_row(r), from->image_row(r),
                    static_cast<std::size_t>(to->cols() * bytes_of(to->type)));
    REQUIRE(launch_twice(y) == "");
    std::int64_t others = 0;
    for (auto const& [one, two] : {std::pair{&x.dq, &y.dq}, {&x.dk, &y.dk}, {&x.dv, &y.dv}})
      for (std::int64_t r = 0; r < one->rows(); ++r) others += different(*one, r, *two, r);
    return others;
  };
  auto other = c;
  other.random_state = true;
  CHECK(others_of(other) == 0);
  other.seed += 1;
  CHECK(others_of(other) == x.dq.rows() + 2 * x.dk.rows());
  other.seed -= 1, other.offset += 1;
  CHECK(others_of(other) == x.dq.rows() + 2 * x.dk.rows());
}

void spoil(tensor& x, std::int64_t row) {
  for (std::int64_t c = 0; c < x.cols(); ++c) set(x, row, c, std::nan(""));
}
bool is_finite(tensor const& x, std::int64_t row) {
  std::vector<double> values(static_cast<std::size_t>(x.cols()));
  read_row(x.type, x.result_row(row), x.cols(), values.data());
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

TEST_CASE("without a query, or a head of them, dk and dv are 0 whatever keys are") {
  std::int64_t wrong = 0, zeros = 0;
  for (bool const is_packed : {false, true})
    for (std::int64_t const hq : {0, 2}) {
      option_case c{.b = 2, .hq = hq, .hk = 1, .nq = hq ? 0 : 20, .nk = 30};
      c.left = 7;
      if (is_packed) {
        c.q_starts = starts_of(hq ? lengths{0, 0} : lengths{13, 7});
        c.k_starts = starts_of({10, 20});
      }
      backward_option_operands x({c});
      for (std::int64_t r = 0; r < x.k.rows(); ++r) spoil(x.k, r), spoil(x.v, r);
      REQUIRE(launch_twice(x) == "");
      for (auto const* t : {&x.dk, &x.dv})
        for (std::int64_t r = 0; r < t->rows(); ++r)
          for (std::int64_t col = 0; col < t->cols(); ++col) {
            double const got = decode(t->type, t->result_row(r) + col * bytes_of(t->type));
            (got == 0 ? zeros : wrong) += 1;
          }
    }
  CHECK(wrong == 0);
  CHECK(zeros == 2 * 2 * (2 * 30 + 30) * 64);
}

// As far from a window as attention_backward.h says.
TEST_CASE("NaN far from what a window shows") {
  constexpr std::int64_t n = 1240, first = 600, end = 630, left = 40, right = 20, within = 512;
  for (std::int64_t const d : {64, 128, 256}) {
    option_case c{.hq = 1, .hk = 1, .nq = n, .nk = n, .d = d, .dv = 64};
    c.left = left, c.right = right;
    backward_option_operands keys({c}), queries({c});
    for (std::int64_t i = first; i < end; ++i) {
      for (auto* t : {&keys.k, &keys.v}) spoil(*t, i);
      for (auto* t : {&queries.q, &queries.o, &queries.dout}) spoil(*t, i);
    }
    REQUIRE(launch_twice(keys) == "");
    REQUIRE(launch_twice(queries) == "");
    std::int64_t wrong = 0, reached = 0, far = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      bool const row_is_far = i + right + within < first || i - left - within >= end,
                 key_is_far = i + left + within < first || i - right - within >= end;
      far += row_is_far + key_is_far;
      wrong += row_is_far && !is_finite(keys.dq, i);
      for (auto const* t : {&queries.dk, &queries.dv}) wrong += key_is_far && !is_finite(*t, i);
      bool const is_bad = i >= first && i < end;
      wrong += !is_bad && (!is_finite(keys.dk, i) || !is_finite(keys.dv, i));
      wrong += !is_bad && !is_finite(queries.dq, i);
      reached += is_bad && !is_finite(keys.dk, i) && !is_finite(queries.dq, i);
    }
    CHECK(wrong == 0);
    CHECK(far == 2 * (first - within + n - end - within) - 2 * (left + right));
    CHECK(reached == end - first);
  }
}

}  // namespace
}  // namespace tk::test
