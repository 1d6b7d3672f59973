// SPDX-License-Identifier: MIT
// What softmax_backward must not refuse: dx and dbias on y and dy, one input for both, every rank,
// all types, empty tensors. Values are chosen so that results are known.
#include <cmath>

#include "tests/ops/softmax/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

constexpr std::size_t at_y = 0, at_dy = 8192, at_dx = 16384, at_dbias = 20480;

// y is 1/32 everywhere, dy 0 and 16 in turn: the sum of a row is 5, so dbias -5/32 and 11/32.
bytes weights_and_gradients() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) {
    put_fp32(host, at_y + 4 * i, 1.f / 32);
    put_fp32(host, at_dy + 4 * i, i % 2 ? 16 : 0);
  }
  return host;
}
void check_gradients(bytes const& host, std::size_t at, float scale, std::size_t count = 120) {
  for (std::size_t i = 0; i < count; ++i)
    REQUIRE(fp32_at(host, at + 4 * i) == scale * (i % 2 ? 11 : -5) / 32);
}

}  // namespace

TEST_CASE("softmax's backward: gradients may be y and dy, and dbias none") {
  softmax_backward s;
  s.problem.scale = -2;
  s.arena.write(weights_and_gradients());
  SUBCASE("apart") {
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    check_gradients(host, at_dx, -2);
    check_gradients(host, at_dbias, 1);
  }
  SUBCASE("no dbias") {
    s.dbias.given = nullptr;
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    check_gradients(host, at_dx, -2);
    CHECK(fp32_at(host, at_dbias) == 0);
  }
  SUBCASE("dx on y, dbias on dy") {
    s.dx.dl.data = s.y.dl.data;
    s.dbias.dl.data = s.dy.dl.data;
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    check_gradients(host, at_y, -2);
    check_gradients(host, at_dy, 1);
  }
  SUBCASE("dx on dy, dbias on y") {
    s.dx.dl.data = s.dy.dl.data;
    s.dbias.dl.data = s.y.dl.data;
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    check_gradients(host, at_dy, -2);
    check_gradients(host, at_y, 1);
  }
  SUBCASE("y is dy, and dx") {
    s.dy.dl.data = s.dx.dl.data = s.y.dl.data;
    s.dbias.given = nullptr;
    EXPECT_OK(call(s));
    CHECK(fp32_at(s.arena.content(), at_y) == -2 * (1.f / 32 - 20.f / 1024) / 32);
  }
}

// Every fourth column of y is 0: a boolean mask hid it.
TEST_CASE("softmax's backward: where y is 0 gradients are, and dy counts for nothing") {
  bytes results[2];
  for (int large = 0; large < 2; ++large) {
    softmax_backward s;
    bytes host(arena_bytes, 0);
    for (std::size_t i = 0; i < 120; ++i) {
      bool const hidden = i % 4 == 1;
      put_fp32(host, at_y + 4 * i, hidden ? 0 : 1.f / 32);
      put_fp32(host, at_dy + 4 * i, hidden && large ? 1e30f : static_cast<float>(i % 5));
    }
    s.arena.write(host);
    EXPECT_OK(call(s));
    auto const got = s.arena.content();
    for (std::size_t i = 0; i < 120; ++i)
      for (auto const at : {at_dx, at_dbias})
        REQUIRE((fp32_at(got, at + 4 * i) == 0) == (i % 4 == 1));
    results[large].assign(got.begin() + at_dx, got.end());
  }
  for (std::size_t i = 0; i < 120; ++i)
    if (i % 4 != 1)
      for (std::size_t const at : {std::size_t{0}, at_dbias - at_dx})
        REQUIRE(fp32_at(results[0], at + 4 * i) == fp32_at(results[1], at + 4 * i));
}

TEST_CASE("softmax's backward: every rank") {
  softmax_backward s;
  for (int rank = 1; rank <= 4; ++rank) {
    for (auto* t : s.all()) { set_rank(*t, rank); }
    s.arena.write(weights_and_gradients());
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    std::size_t const count = rank > 1 ? 40 : 20;
    check_gradients(host, at_dx, 1, count);
    check_gradients(host, at_dbias, 1, count);
    CHECK(fp32_at(host, at_dx + 4 * count) == 0);
  }
}

constexpr auto all = [](softmax_backward& s) { return s.all(); };

TEST_CASE("softmax's backward: all types, and nothing to do") {
  check_types<softmax_backward>(all);
  check_nothing<softmax_backward>(3, all);
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  check_largest<softmax_backward>(all);
}

TEST_CASE("a call's work is on its stream") {
  softmax_backward s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<softmax_backward>(); }
