// SPDX-License-Identifier: MIT
// timeout: 600
// What a result does not depend on does not reach it: NaN and infinity in another head and in its
// states; tokens behind the end of a chunk.
#include <algorithm>

#include "tests/ops/linear_attention/part.hpp"

namespace tk::test {
namespace {

void spoil(tensor x, double value) {
  if (!x.in) return;
  for (std::int64_t r = 0; r < x.rows(); ++r)
    for (std::int64_t c = 0; c < x.cols(); ++c) set(x, r, c, value);
}
template <class Operands> void spoil_part(Operands& x, scan_part const& p) {
  auto inputs = inputs_of(x, x);
  for (auto const& y : own_inputs(x, x)) inputs.push_back(y);
  double const values[] = {std::nan(""), HUGE_VAL, -HUGE_VAL};
  std::size_t turn = 0;
  for (auto const& y : inputs)
    if (y.all->in && y.is != kind::of_heads) spoil(part_of(y, x.of, p), values[turn++ % 3]);
}
bool is_finite(tensor const& x, std::int64_t row) {
  std::vector<double> values(static_cast<std::size_t>(x.cols()));
  read_row(x.type, x.result_row(row), x.cols(), values.data());
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// All of a head of a sequence, or its state alone.
template <class Operands> void check_head(scan_case const& c, bool states_alone) {
  Operands good(c), bad(c);
  REQUIRE(launch_twice(good) == "");
  scan_part const spoiled{0, 0, span_of(c, 0).n, 1, 1};
  if (states_alone) spoil(states_of(bad.initial, spoiled), std::nan(""));
  else spoil_part(bad, spoiled);
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
// A head's one decay gets NaN where one of its sequences has some; another head's does not.
void check_ddecay() {
  scan_case const c{.b = 2, .n = 70, .h = 3, .decay = decays::heads, .states = true};
  backward_operands good(c), bad(c);
  spoil_part(bad, {0, 0, c.n, 1, 1});
  REQUIRE(launch_twice(good) == "");
  REQUIRE(launch_twice(bad) == "");
  for (std::int64_t head = 0; head < c.h; ++head) {
    double const got = decode(dtype::fp32, bad.ddecay.result_row(0) + head * 4);
    CHECK(std::isfinite(got) == (head != 1));
    if (head != 1) CHECK(got == decode(dtype::fp32, good.ddecay.result_row(0) + head * 4));
  }
}
template <class Operands> void check_heads() {
  for (bool const states_alone : {false, true})
    for (auto const decay : {decays::none, decays::mild}) {
      check_head<Operands>({.b = 2, .n = 130, .h = 3, .decay = decay, .states = true},
                           states_alone);
      check_head<Operands>({.h = 2,
                            .d = 128,
                            .dv = 48,
                            .type = dtype::fp16,
                            .decay = decay,
                            .states = true,
                            .lengths = {70, 3, 64}},
                           states_alone);
    }
}
TEST_CASE("NaN in one head and its state stays there") { check_heads<forward_operands>(); }
TEST_CASE("NaN in one head stays there, of gradients") {
  check_heads<backward_operands>();
  check_ddecay();
}

// Tokens up to the end of a chunk have the same bits whatever comes after them, or nothing.
void check_later(scan_case const& c, std::int64_t first) {
  forward_operands good(c), bad(c);
  REQUIRE(launch_twice(good) == "");
  for (std::int64_t s = 0; s < c.b; ++s) {
    scan_part const p{s, first, c.n - first, 0, c.h};
    for (auto* const x : {&bad.q, &bad.k, &bad.v, &bad.log_decay})
      if (x->in) spoil(tokens_of(*x, c, p), x == &bad.q ? HUGE_VAL : std::nan(""));
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
  for (auto const decay : {decays::none, decays::heads, decays::mild, decays::vanishing}) {
    check_later({.b = 2, .n = 200, .h = 2, .decay = decay, .states = true}, 128);
    check_later({.n = 65, .d = 256, .dv = 32, .type = dtype::fp16, .decay = decay}, 64);
  }
  // What is cut, and what of it is walked.
  for (auto const decay : {decays::none, decays::mild})
    check_later({.n = cut_length(), .d = 16, .dv = 16, .decay = decay}, 1024 + 128);
}

}  // namespace
}  // namespace tk::test
