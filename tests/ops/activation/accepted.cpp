// SPDX-License-Identifier: MIT
// What activation must not refuse: y on a and on b, packed halves, every rank, absent b, all kinds
// and types, empty tensors. Values are chosen so that results are known.
#include <cmath>

#include "tests/ops/activation/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

constexpr std::size_t at_a = 0, at_b = 8192, at_y = 16384;

// a is -2 and 3 in turn, b 5.
bytes known_numbers() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) {
    put_fp32(host, at_a + 4 * i, i % 2 ? 3 : -2);
    put_fp32(host, at_b + 4 * i, 5);
  }
  return host;
}
void check_turns(bytes const& host, std::size_t at, std::size_t count, double even, double odd) {
  for (std::size_t i = 0; i < count; ++i)
    REQUIRE(std::abs(fp32_at(host, at + 4 * i) - (i % 2 ? odd : even)) < 1e-5);
}

}  // namespace

TEST_CASE("activation: y may be a or b, rows may be one, b may be none") {
  activation s;
  s.problem.kind = TK_ACTIVATION_RELU;
  s.arena.write(known_numbers());
  SUBCASE("y on a") {
    s.y.dl.data = s.a.dl.data;
    EXPECT_OK(call(s));
    check_turns(s.arena.content(), at_a, 120, 0, 15);
    check_turns(s.arena.content(), at_b, 120, 5, 5);
  }
  SUBCASE("y on b") {
    s.y.dl.data = s.b.dl.data;
    EXPECT_OK(call(s));
    check_turns(s.arena.content(), at_b, 120, 0, 15);
    check_turns(s.arena.content(), at_a, 120, -2, 3);
  }
  SUBCASE("all three") {
    s.y.dl.data = s.b.dl.data = s.a.dl.data;
    EXPECT_OK(call(s));
    check_turns(s.arena.content(), at_a, 120, 0, 9);
  }
  SUBCASE("no b") {
    s.b.given = nullptr;
    EXPECT_OK(call(s));
    check_turns(s.arena.content(), at_y, 120, 0, 3);
  }
  SUBCASE("every rank") {
    for (int rank = 1; rank <= 4; ++rank) {
      for (auto* t : s.all()) { set_rank(*t, rank); }
      s.arena.write(known_numbers());
      EXPECT_OK(call(s));
      auto const host = s.arena.content();
      std::size_t const count = rank > 1 ? 40 : 20;
      check_turns(host, at_y, count, 0, 15);
      CHECK(fp32_at(host, at_y + 4 * count) == 0);
    }
  }
}

// x[2, 3, 40], a is x[..., :20], b x[..., 20:].
TEST_CASE("activation: a and b may be halves of one tensor, and y its first") {
  for (bool const in_place : {false, true}) {
    activation s;
    s.problem.kind = TK_ACTIVATION_RELU;
    bytes host(arena_bytes, 0);
    for (std::size_t i = 0; i < 240; ++i) put_fp32(host, 4 * i, i % 40 >= 20 ? 5 : i % 2 ? 3 : -2);
    s.arena.write(host);
    for (auto* t : {&s.a, &s.b}) t->strides = {120, 40, 1};
    s.b.dl.data = s.arena.at(80);
    if (in_place) {
      s.y.strides = s.a.strides;
      s.y.dl.data = s.a.dl.data;
    }
    EXPECT_OK(call(s));
    auto const got = s.arena.content();
    for (std::size_t row = 0; row < 6; ++row) {
      check_turns(got, in_place ? 160 * row : at_y + 80 * row, 20, 0, 15);
      check_turns(got, 160 * row + 80, 20, 5, 5);
    }
  }
}

// Pairs (a, b): a is -2 and 3 in turn, b 5.
bytes known_pairs() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) {
    put_bf16(host, at_a + 4 * i, i % 2 ? 3 : -2);
    put_bf16(host, at_a + 4 * i + 2, 5);
  }
  return host;
}

TEST_CASE("activation: pairs of every rank, and none") {
  for (int rank = 1; rank <= 4; ++rank) {
    interleaved_activation s;
    s.problem.kind = TK_ACTIVATION_RELU;
    for (auto* t : {&s.a, &s.y}) set_rank(*t, rank);
    s.a.shape[static_cast<std::size_t>(rank) - 1] = 40;
    s.arena.write(known_pairs());
    EXPECT_OK(call(s));
    bytes expected = known_pairs();
    for (std::size_t i = 0; i < (rank > 1 ? 40u : 20u); ++i)
      put_bf16(expected, at_y + 2 * i, i % 2 ? 15 : 0);
    CHECK(s.arena.content() == expected);
  }
  check_nothing<interleaved_activation>(
      3, [](interleaved_activation& s) { return std::vector{&s.a, &s.y}; });
}

TEST_CASE("activation: every kind") {
  auto const e2 = std::exp(2.), e3 = std::exp(-3.);
  auto const tanh_of = [](double x) {
    return x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  };
  auto const erf_of = [](double x) { return x / 2 * (1 + std::erf(x * 0.7071067811865476)); };
  double const expected[][2] = {{-2, 3},
                                {0, 3},
                                {-2 / (1 + e2), 3 / (1 + e3)},
                                {tanh_of(-2), tanh_of(3)},
                                {erf_of(-2), erf_of(3)},
                                {1 / (1 + e2), 1 / (1 + e3)}};
  for (int kind = 0; kind < 6; ++kind) {
    activation s;
    s.problem.kind = static_cast<tk_activation_kind>(kind);
    s.arena.write(known_numbers());
    EXPECT_OK(call(s));
    auto const [even, odd] = expected[kind];
    check_turns(s.arena.content(), at_y, 120, 5 * even, 5 * odd);
  }
}

constexpr auto all = [](activation& s) { return s.all(); };

TEST_CASE("activation: all types, and nothing to do") {
  check_types<activation>(all);
  check_nothing<activation>(3, all);
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  check_largest<activation>(all);
}

TEST_CASE("a call's work is on its stream") {
  activation s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<activation>(); }
