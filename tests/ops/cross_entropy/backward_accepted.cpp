// SPDX-License-Identifier: MIT
// What cross_entropy_backward must not refuse: dx on x, every rank, one dloss for all rows, all
// types, no rows. Values are chosen so that results are known.
#include <cmath>

#include "tests/ops/cross_entropy/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

bool is_near(float x, double y) { return std::abs(x - y) < 1e-5; }

// Rows of zeros with an lse of ln 32, so that weights are 1/32 whatever the others; labels 0 to 5,
// dloss 1 to 6.
bytes gradients() {
  bytes host(arena_bytes, 0);
  for (int i = 0; i < 6; ++i) {
    auto const at = 4 * static_cast<std::size_t>(i);
    put_int32(host, at_labels + at, i);
    put_fp32(host, at_lse + at, std::log(32.f));
    put_fp32(host, at_dloss + at, static_cast<float>(i + 1));
  }
  return host;
}
void check_rows(bytes const& host, std::size_t at, std::size_t rows, bool one_dloss = false) {
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t col = 0; col < 20; ++col)
      REQUIRE(is_near(fp32_at(host, at + 4 * (20 * row + col)),
                      (one_dloss ? 1 : static_cast<double>(row + 1)) * (1. / 32 - (col == row))));
}

}  // namespace

TEST_CASE("cross_entropy's backward: dx may be x, dloss one for all") {
  cross_entropy_backward s;
  s.arena.write(gradients());
  SUBCASE("apart") {
    EXPECT_OK(call(s));
    check_rows(s.arena.content(), at_dx, 6);
  }
  SUBCASE("dx on x") {
    s.dx.dl.data = s.x.dl.data;
    EXPECT_OK(call(s));
    check_rows(s.arena.content(), at_x, 6);
  }
  SUBCASE("one dloss") {
    s.dloss.strides[0] = s.dloss.strides[1] = 0;
    EXPECT_OK(call(s));
    check_rows(s.arena.content(), at_dx, 6, true);
  }
  SUBCASE("lse is dloss") {
    s.lse.dl.data = s.dloss.dl.data;
    EXPECT_OK(call(s));
    CHECK(is_near(fp32_at(s.arena.content(), at_dx + 4), std::exp(-1.)));
  }
  SUBCASE("an ignored label, and one that is no column") {
    auto host = gradients();
    put_int32(host, at_labels + 4, 20);
    s.arena.write(host);
    s.problem.has_ignore_index = 1;
    EXPECT_OK(call(s));
    auto const got = s.arena.content();
    for (std::size_t col = 0; col < 20; ++col) {
      CHECK(fp32_at(got, at_dx + 4 * col) == 0);
      CHECK(std::isnan(fp32_at(got, at_dx + 4 * (20 + col))));
    }
    CHECK(is_near(fp32_at(got, at_dx + 4 * 40), 3. / 32));
  }
}

TEST_CASE("cross_entropy's backward: every rank") {
  for (int rank = 1; rank <= 4; ++rank) {
    cross_entropy_backward s;
    for (auto* t : {&s.x, &s.labels, &s.lse, &s.dloss, &s.dx}) {
      bool const each = t != &s.x && t != &s.dx;
      t->dl.ndim = rank - each;
      t->dl.strides = nullptr;
      t->shape.fill(1);
      if (rank > 1) t->shape[0] = 2;
      if (!each) t->shape[static_cast<std::size_t>(rank) - 1] = 20;
    }
    s.arena.write(gradients());
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    std::size_t const rows = rank > 1 ? 2 : 1;
    check_rows(host, at_dx, rows);
    CHECK(fp32_at(host, at_dx + 80 * rows) == 0);
  }
}

constexpr auto all = [](cross_entropy_backward& s) {
  return std::vector{&s.x, &s.labels, &s.lse, &s.dloss, &s.dx};
};

TEST_CASE("cross_entropy's backward: all types, and nothing to do") {
  check_types<cross_entropy_backward>(
      [](cross_entropy_backward& s) { return std::vector{&s.x, &s.dx}; });
  check_nothing<cross_entropy_backward>(2, all);
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr std::int64_t most = most_rows_or_columns, vocab = 1 << 24;
  cross_entropy_backward s;
  EXPECT_OK(supports(s, all(s), {1, 3, vocab}));
  CHECK(supports(s, all(s), {1, 3, vocab + 1}) == TK_UNSUPPORTED);
  CHECK(supports(s, all(s), {1, 3, 0}) == TK_UNSUPPORTED);
  CHECK(supports(s, all(s), {1, most + 1, 20}) == TK_UNSUPPORTED);
  CHECK(supports(s, all(s), {1 << 11, 1 << 20, 1}) == TK_UNSUPPORTED);
}

TEST_CASE("a call's work is on its stream") {
  cross_entropy_backward s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<cross_entropy_backward>(); }
