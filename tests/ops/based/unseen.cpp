// SPDX-License-Identifier: MIT
// timeout: 600
// What a result does not depend on does not reach it: NaN and infinity in another head and in its
// states; tokens behind the end of a chunk. Where nothing is lost, every bit is known.
#include <algorithm>

#include "tests/ops/based/part.hpp"

namespace tk::test {
namespace {

void spoil(tensor x, double value) {
  for (std::int64_t r = 0; r < x.rows(); ++r)
    for (std::int64_t c = 0; c < x.cols(); ++c) set(x, r, c, value);
}
bool is_finite(tensor const& x, std::int64_t row) {
  std::vector<double> values(static_cast<std::size_t>(x.cols()));
  read_row(x.type, x.result_row(row), x.cols(), values.data());
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// All of a head of a sequence.
void check_head(based_case const& c) {
  forward_operands good(c), bad(c);
  REQUIRE(launch_twice(good) == "");
  scan_part const spoiled{0, 0, span_of(c, 0).n, 1, 1};
  double const values[] = {std::nan(""), HUGE_VAL, -HUGE_VAL};
  std::size_t turn = 0;
  for (auto const& y : inputs_of(bad, bad))
    if (y.all->in) spoil(part_of(y, c, spoiled), values[turn++ % 3]);
  REQUIRE(launch_twice(bad) == "");
  row_comparison bits;
  std::int64_t reached = 0;
  for (std::int64_t s = 0; s < sequences(c); ++s)
    for (std::int64_t head = 0; head < c.h; ++head) {
      scan_part const p{s, 0, span_of(c, s).n, head, 1};
      for (auto const& x : results_of(good, bad)) {
        if (!x.all->in) continue;
        auto const got = part_of(x, c, p), wanted = part_of({x.few, x.few, x.is}, c, p);
        for (std::int64_t r = 0; r < got.rows(); ++r)
          if (s == 0 && head == 1) reached += !is_finite(got, r);
          else bits.add(got, r, wanted, r);
      }
    }
  CHECK_MESSAGE(bits.wrong() == "", describe(c) << ": " << bits.wrong());
  CHECK(reached >= spoiled.n);
}
TEST_CASE("NaN in one head and its state stays there") {
  for (bool const normalise : {false, true}) {
    check_head({.b = 2, .n = 130, .h = 3, .normalise = normalise, .states = true});
    check_head({.h = 2,
                .dv = 48,
                .type = dtype::fp16,
                .normalise = normalise,
                .states = true,
                .lengths = {70, 3, 64}});
    check_head({.b = 2, .n = 1, .h = 3, .dv = 80, .normalise = normalise, .states = true});
  }
}

// Tokens up to the end of a chunk have the same bits whatever comes after them, or nothing.
void check_later(based_case const& c, std::int64_t first) {
  forward_operands good(c), bad(c);
  REQUIRE(launch_twice(good) == "");
  for (std::int64_t s = 0; s < c.b; ++s) {
    scan_part const p{s, first, c.n - first, 0, c.h};
    for (auto* const x : {&bad.q, &bad.k, &bad.v})
      spoil(tokens_of(*x, c, p), x == &bad.q ? HUGE_VAL : std::nan(""));
  }
  REQUIRE(launch_twice(bad) == "");
  row_comparison bits;
  std::int64_t reached = 0;
  for (std::int64_t s = 0; s < c.b; ++s) {
    scan_part const early{s, 0, first, 0, c.h};
    auto const alone = take(good, early);
    REQUIRE(launch_twice(*alone) == "");
    auto const got = tokens_of(bad.o, c, early), wanted = tokens_of(good.o, c, early);
    for (std::int64_t r = 0; r < got.rows(); ++r)
      bits.add(got, r, wanted, r), bits.add(alone->o, r, wanted, r);
    auto const late = tokens_of(bad.o, c, {s, first, c.n - first, 0, c.h});
    for (std::int64_t r = 0; r < late.rows(); ++r) reached += !is_finite(late, r);
  }
  CHECK_MESSAGE(bits.wrong() == "", describe(c) << ": " << bits.wrong());
  CHECK(reached == c.b * (c.n - first) * c.h);
}
TEST_CASE("tokens behind the end of a chunk change nothing before it") {
  for (bool const normalise : {false, true}) {
    check_later({.b = 2, .n = 200, .h = 2, .normalise = normalise, .states = true}, 128);
    check_later({.n = 65, .dv = 32, .type = dtype::fp16, .normalise = normalise}, 64);
    check_later({.n = cut_length(), .dv = 16, .normalise = normalise}, 1024 + 128);  // in segments
  }
}

// Queries and keys of one 1 each, small whole numbers as values, a scale of 2: every moment, weight
// and sum is exact, and so is every result that 16 bits hold.
TEST_CASE("exact where every number is whole") {
  for (std::int64_t const n : {70, 1100}) {
    forward_operands x({.n = n, .h = 2, .dv = 32, .states = true, .scale = 2});
    fill(x.initial, data::zeros, 0);
    std::vector<int> q, k;
    for (std::int64_t r = 0; r < x.q.rows(); ++r) {
      auto const at = static_cast<std::uint64_t>(r);
      q.push_back(random_below(16, 71, at)), k.push_back(random_below(16, 72, at));
      for (std::int64_t c = 0; c < based_width; ++c)
        set(x.q, r, c, c == q.back()), set(x.k, r, c, c == k.back());
      for (std::int64_t c = 0; c < x.of.dv; ++c)
        set(x.v, r, c, random_below(64, 73, at * 64 + static_cast<std::uint64_t>(c)) == 0);
    }
    REQUIRE(launch_twice(x) == "");
    for (std::int64_t r = 0; r < x.o.rows(); ++r)
      for (std::int64_t c = 0; c < x.of.dv; ++c) {
        double sum = 0;
        for (std::int64_t j = r % x.of.h; j <= r; j += x.of.h)
          sum += decode(x.of.type, x.v.image_row(j) + c * 2) *
                 (q[static_cast<std::size_t>(r)] == k[static_cast<std::size_t>(j)] ? 5 : 1);
        double const got = decode(x.of.type, x.o.result_row(r) + c * 2);
        REQUIRE(got == rounded(x.of.type, sum));
      }
  }
}

}  // namespace
}  // namespace tk::test
