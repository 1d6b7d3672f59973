// SPDX-License-Identifier: MIT
// What activation_backward must not refuse: gradients on a, b and dy, one gradient alone, absent b,
// every rank, all types, empty tensors. Values are chosen so that results are known.
#include <cmath>

#include "tests/ops/activation/scene.hpp"
#include "tests/support/far.hpp"
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

TEST_CASE("activation's backward: every rank") {
  activation_backward s;
  s.problem.kind = TK_ACTIVATION_RELU;
  for (int rank = 1; rank <= 4; ++rank) {
    for (auto* t : s.all()) {
      t->dl.ndim = rank;
      t->dl.strides = nullptr;
      t->shape.fill(1);
      if (rank > 1) t->shape[0] = 2;
      t->shape[static_cast<std::size_t>(rank) - 1] = 20;
    }
    s.arena.write(known_numbers());
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    std::size_t const count = rank > 1 ? 40 : 20;
    check_turns(host, at_da, 2.5f, count);
    check_turns(host, at_db, 1.5f, count);
    CHECK(fp32_at(host, at_da + 4 * count + 4) == 0);
  }
}

TEST_CASE("activation's backward: all types, and nothing to do") {
  for (auto const type : {bf16, fp16, fp32}) {
    activation_backward s;
    for (auto* t : s.all()) t->dl.dtype = type;
    auto const before = s.arena.content();
    EXPECT_OK(call(s));
    CHECK(s.arena.content() != before);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    activation_backward s;
    for (auto* t : s.all()) {
      t->shape[axis] = 0;
      t->dl.data = nullptr;
    }
    auto const before = s.arena.content();
    EXPECT_OK(activation_backward::call(s.get()));
    CHECK(s.arena.content() == before);
  }
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr std::int64_t most = (std::int64_t(1) << 31) - 65537;
  activation_backward s;
  auto const supports = [&](std::vector<std::int64_t> const& sizes) {
    for (auto* t : s.all()) {
      t->dl.strides = nullptr;
      std::copy(sizes.begin(), sizes.end(), t->shape.begin());
    }
    return tk_supports(activation_backward::op, s.get());
  };
  EXPECT_OK(supports({1, 3, most}));
  CHECK(supports({1, 3, most + 1}) == TK_UNSUPPORTED);
  EXPECT_OK(supports({most, 1, 20}));
  CHECK(supports({1, most + 1, 20}) == TK_UNSUPPORTED);
  CHECK(supports({1 << 30, 1 << 30, 1}) == TK_UNSUPPORTED);
}

TEST_CASE("a call's work is on its stream") {
  activation_backward s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<activation_backward>(); }
