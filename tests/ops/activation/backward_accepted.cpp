// SPDX-License-Identifier: MIT
// What activation_backward must not refuse: gradients on a, b and dy, one gradient alone, absent b,
// every rank, all types, empty tensors. Values are chosen so that results are known.
#include <cmath>

#include "tests/ops/activation/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

constexpr std::size_t at_a = 0, at_b = 4096, at_dy = 8192, at_da = 16384, at_db = 20480;

// a is -2 and 3 in turn, b 5, dy 0.5: of ReLU, da is 0 and 2.5, db 0 and 1.5.
bytes known_numbers() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) {
    put_fp32(host, at_a + 4 * i, i % 2 ? 3 : -2);
    put_fp32(host, at_b + 4 * i, 5);
    put_fp32(host, at_dy + 4 * i, 0.5);
  }
  return host;
}
void check_turns(bytes const& host, std::size_t at, float odd, std::size_t count = 120) {
  for (std::size_t i = 0; i < count; ++i) REQUIRE(fp32_at(host, at + 4 * i) == (i % 2 ? odd : 0));
}

}  // namespace

TEST_CASE("activation's backward: gradients may be a, b and dy, and one of them none") {
  activation_backward s;
  s.problem.kind = TK_ACTIVATION_RELU;
  s.arena.write(known_numbers());
  SUBCASE("apart") {
    EXPECT_OK(call(s));
    check_turns(s.arena.content(), at_da, 2.5f);
    check_turns(s.arena.content(), at_db, 1.5f);
  }
  SUBCASE("every pair of places") {
    struct place {
      tensor* of;
      std::size_t at;
    };
    place const places[] = {{&s.a, at_a}, {&s.b, at_b}, {&s.dy, at_dy}};
    for (auto const& x : places)
      for (auto const& y : places) {
        if (x.of == y.of) continue;
        s.arena.write(known_numbers());
        s.da.dl.data = x.of->dl.data;
        s.db.dl.data = y.of->dl.data;
        EXPECT_OK(call(s));
        check_turns(s.arena.content(), x.at, 2.5f);
        check_turns(s.arena.content(), y.at, 1.5f);
      }
  }
  SUBCASE("no db") {
    s.db.given = nullptr;
    EXPECT_OK(call(s));
    check_turns(s.arena.content(), at_da, 2.5f);
    check_turns(s.arena.content(), at_db, 0);
  }
  SUBCASE("no da") {
    s.da.given = nullptr;
    EXPECT_OK(call(s));
    check_turns(s.arena.content(), at_da, 0);
    check_turns(s.arena.content(), at_db, 1.5f);
  }
  SUBCASE("no b") {
    s.b.given = s.db.given = nullptr;
    EXPECT_OK(call(s));
    check_turns(s.arena.content(), at_da, 0.5f);
    check_turns(s.arena.content(), at_db, 0);
  }
}

// Pairs (a, b), a -2 and 3 in turn, b 5, and dy 0.5.
TEST_CASE("activation's backward: pairs, and their gradient in their place") {
  bytes given(arena_bytes, 0), gradient(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) {
    put_bf16(given, at_a + 4 * i, i % 2 ? 3 : -2);
    put_bf16(given, at_a + 4 * i + 2, 5);
    put_bf16(given, at_dy + 2 * i, 0.5);
    put_bf16(gradient, 4 * i, i % 2 ? 2.5f : 0);
    put_bf16(gradient, 4 * i + 2, i % 2 ? 1.5f : 0);
  }
  for (bool const in_place : {false, true})
    for (int rank = 1; rank <= 4; ++rank) {
      interleaved_activation_backward s;
      s.problem.kind = TK_ACTIVATION_RELU;
      for (auto* t : {&s.a, &s.dy, &s.da}) set_rank(*t, rank);
      for (auto* t : {&s.a, &s.da}) t->shape[static_cast<std::size_t>(rank) - 1] = 40;
      if (in_place) s.da.dl.data = s.a.dl.data;
      s.arena.write(given);
      EXPECT_OK(call(s));
      auto expected = given;
      std::copy_n(gradient.begin(), rank > 1 ? 160 : 80,
                  expected.begin() + static_cast<std::ptrdiff_t>(in_place ? at_a : at_da));
      CHECK(s.arena.content() == expected);
    }
  check_nothing<interleaved_activation_backward>(
      3, [](interleaved_activation_backward& s) { return std::vector{&s.a, &s.dy, &s.da}; });
}

TEST_CASE("activation's backward: every rank") {
  activation_backward s;
  s.problem.kind = TK_ACTIVATION_RELU;
  for (int rank = 1; rank <= 4; ++rank) {
    for (auto* t : s.all()) { set_rank(*t, rank); }
    s.arena.write(known_numbers());
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    std::size_t const count = rank > 1 ? 40 : 20;
    check_turns(host, at_da, 2.5f, count);
    check_turns(host, at_db, 1.5f, count);
    CHECK(fp32_at(host, at_da + 4 * count + 4) == 0);
  }
}

constexpr auto all = [](activation_backward& s) { return s.all(); };

TEST_CASE("activation's backward: all types, and nothing to do") {
  check_types<activation_backward>(all);
  check_nothing<activation_backward>(3, all);
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  check_largest<activation_backward>(all);
}

TEST_CASE("a call's work is on its stream") {
  activation_backward s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<activation_backward>(); }
