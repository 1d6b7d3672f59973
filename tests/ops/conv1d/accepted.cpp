// SPDX-License-Identifier: MIT
// What conv1d must not refuse: states in one place, none, every rank, all types, empty tensors,
// packed sequences. Values are chosen so that results are known, or those of another call.
#include "tests/ops/conv1d/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;
using s = conv1d;

// Whole numbers: token i of x and of initial_state i + 1, 10 (i + 1), weights 1, 2, 3, 4, bias 5.
bytes known_numbers() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) {
    put_fp32(host, s::at_x + 4 * i, static_cast<float>(i / 20 + 1));
    put_fp32(host, s::at_initial + 4 * i, static_cast<float>(10 * (i / 20 + 1)));
  }
  for (std::size_t i = 0; i < 80; ++i)
    put_fp32(host, s::at_weight + 4 * i, static_cast<float>(i % 4 + 1));
  for (std::size_t i = 0; i < 20; ++i) put_fp32(host, s::at_bias + 4 * i, 5);
  return host;
}
void check_tokens(bytes const& host, std::size_t at, std::vector<float> const& expected) {
  for (std::size_t i = 0; i < 20 * expected.size(); ++i) {
    CAPTURE(i);
    REQUIRE(fp32_at(host, at + 4 * i) == expected[i / 20]);
  }
}

}  // namespace

TEST_CASE("conv1d: states are given, kept, and moved on in place") {
  s x;
  x.arena.write(known_numbers());
  EXPECT_OK(call(x));
  // 10 + 2 20 + 3 30 + 4 1 + 5, 20 + 2 30 + 3 1 + 4 2 + 5, ...
  std::vector<float> const y{149, 96, 55, 341, 207, 112};
  check_tokens(x.arena.content(), s::at_y, y);
  check_tokens(x.arena.content(), s::at_final, {1, 2, 3, 4, 5, 6});
  x.final.dl.data = x.initial.dl.data;
  EXPECT_OK(call(x));
  check_tokens(x.arena.content(), s::at_y, y);
  check_tokens(x.arena.content(), s::at_initial, {1, 2, 3, 4, 5, 6});
}

TEST_CASE("conv1d: steps of decoding give what a call for all tokens does") {
  s all;
  all.arena.write(known_numbers());
  EXPECT_OK(call(all));
  auto const expected = all.arena.content();
  s x;
  x.arena.write(known_numbers());
  x.final.dl.data = x.initial.dl.data;
  for (auto* t : x.tokens()) t->shape[1] = 1;
  for (std::int64_t token = 0; token < 3; ++token) {
    EXPECT_OK(call(x));
    for (auto* t : x.tokens()) t->move(80);
  }
  auto const got = x.arena.content();
  for (std::size_t i = 0; i < 120; ++i) {
    CHECK(fp32_at(got, s::at_y + 4 * i) == fp32_at(expected, s::at_y + 4 * i));
    CHECK(fp32_at(got, s::at_initial + 4 * i) == fp32_at(expected, s::at_final + 4 * i));
  }
}

TEST_CASE("conv1d: no state, no bias; no token, but states") {
  s x;
  x.initial.given = x.final.given = x.bias.given = nullptr;
  x.arena.write(known_numbers());
  EXPECT_OK(call(x));
  check_tokens(x.arena.content(), s::at_y, {4, 11, 20, 16, 32, 47});
  check_tokens(x.arena.content(), s::at_final, {0, 0, 0, 0, 0, 0});
  s none;
  for (auto* t : none.tokens()) t->shape[1] = 0, t->dl.data = nullptr;
  none.arena.write(known_numbers());
  EXPECT_OK(call(none));
  check_tokens(none.arena.content(), s::at_final, {10, 20, 30, 40, 50, 60});
  none.initial.given = nullptr;
  EXPECT_OK(call(none));
  check_tokens(none.arena.content(), s::at_final, {0, 0, 0, 0, 0, 0});
}

TEST_CASE("conv1d: packed sequences, of three dimensions and of two") {
  for (bool const flat : {false, true}) {
    conv1d_packed x;
    auto host = known_numbers();
    std::int32_t const starts[] = {1, 1, 5};  // none, and four tokens
    for (std::size_t i = 0; i < 3; ++i) put_int32(host, s::at_starts + 4 * i, starts[i]);
    if (flat)
      for (auto* t : x.tokens()) t->dl.ndim = 2, t->shape = {6, 20}, t->dl.strides = nullptr;
    x.arena.write(host);
    EXPECT_OK(call(x));
    auto const got = x.arena.content();
    // 40 + 2 50 + 3 60 + 4 2 + 5, ...
    check_tokens(got, s::at_y, {0, 333, 193, 94, 45, 0});
    check_tokens(got, s::at_final, {10, 20, 30, 3, 4, 5});
  }
}

TEST_CASE("conv1d: all types, and nothing to do") {
  check_types<s>([](s& x) { return x.typed(); });
  check_types<s>([](s& x) {
    auto all = x.typed();
    all.push_back(&x.weight), all.push_back(&x.bias);
    return all;
  });
  check_nothing<s>(1, [](s& x) { return x.typed(); });
  s narrow;  // c = 0
  for (auto* t : narrow.typed()) t->shape[2] = 0, t->dl.data = nullptr;
  for (auto* t : {&narrow.weight, &narrow.bias}) t->shape[0] = 0, t->dl.data = nullptr;
  auto const before = narrow.arena.content();
  EXPECT_OK(s::call(narrow.get()));
  s still;  // no token, and no state that is wanted
  still.final.given = nullptr;
  for (auto* t : still.tokens()) t->shape[1] = 0, t->dl.data = nullptr;
  EXPECT_OK(s::call(still.get()));
  conv1d_packed none;  // no sequence
  none.starts.shape[0] = 1;
  for (auto* t : none.states()) t->shape[0] = 0, t->dl.data = nullptr;
  auto const packed_before = none.arena.content();
  EXPECT_OK(s::call(none.get()));
  CHECK(narrow.arena.content() == before);
  CHECK(still.arena.content() == before);
  CHECK(none.arena.content() == packed_before);
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr std::int64_t most = most_rows_or_columns;
  conv1d_packed x;
  x.initial.given = x.final.given = nullptr;
  auto const supported = [&](std::int64_t b, std::int64_t n, std::int64_t c, std::int64_t starts) {
    for (auto* t : x.tokens()) t->dl.strides = nullptr, t->shape = {b, n, c};
    x.weight.shape[0] = x.bias.shape[0] = c;
    x.starts.shape[0] = starts + 1;
    x.starts.given = starts > 0 ? &x.starts.dl : nullptr;
    return tk_supports(s::op, x.get());
  };
  EXPECT_OK(supported(1, 3, most / 4, 0));
  CHECK(supported(1, 3, most / 4 + 1, 0) == TK_UNSUPPORTED);
  EXPECT_OK(supported(1, most - 7, 256, 7));
  CHECK(supported(1, most - 7, 256, 8) == TK_UNSUPPORTED);
  EXPECT_OK(supported(most, 1, 256, 0));
  CHECK(supported(most, 1, 257, 0) == TK_UNSUPPORTED);
  CHECK(supported(most + 1, 1, 8, 0) == TK_UNSUPPORTED);
  EXPECT_OK(supported(1 << 10, 1 << 20, 256 * 200, 0));
  CHECK(supported(1 << 10, 1 << 20, 256 * 300, 0) == TK_UNSUPPORTED);
  CHECK(supported(1 << 30, 1 << 30, 1, 0) == TK_UNSUPPORTED);
}

TEST_CASE("a call's work is on its stream") {
  s x;
  check_stream(x);
}

// Of tokens and states; weight and bias lie close together.
TEST_CASE("tokens more than 2^31 elements apart") {
  struct far_tokens : s {
    std::vector<argument> arguments() {
      return {{"x", &x}, {"y", &y}, {"initial_state", &initial}, {"final_state", &final}};
    }
  };
  check_far_rows<far_tokens>();
}
