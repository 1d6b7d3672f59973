// SPDX-License-Identifier: MIT
// What cross_entropy must not refuse: dx on x, every rank, absent outputs, labels of both types
// and any strides, all types, no rows. Values are chosen so that results are known.
#include <cmath>

#include "tests/ops/cross_entropy/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

// fp32 may be off by some ulp.
bool is_near(float x, double y) { return std::abs(x - y) < 1e-5; }

// Rows of ten of 0 and ten of ln 3: weights 1/40 and 3/40, lse is ln 40. Labels are 0 to 5.
bytes logits() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i)
    put_fp32(host, at_x + 4 * i, i % 20 % 2 ? std::log(3.f) : 0);
  for (int i = 0; i < 6; ++i) put_int32(host, at_labels + 4 * static_cast<std::size_t>(i), i);
  return host;
}
double loss_at(std::size_t row) { return std::log(40.) - (row % 2 ? std::log(3.) : 0); }
void check_rows(bytes const& host, std::size_t at, std::size_t rows, double scale) {
  for (std::size_t row = 0; row < rows; ++row) {
    REQUIRE(is_near(fp32_at(host, at_loss + 4 * row), loss_at(row)));
    for (std::size_t col = 0; col < 20; ++col)
      REQUIRE(is_near(fp32_at(host, at + 4 * (20 * row + col)),
                      scale * ((col % 2 ? 0.075 : 0.025) - (col == row))));
  }
}

}  // namespace

TEST_CASE("cross_entropy: dx may be x, lse and dx may be none") {
  cross_entropy s;
  s.arena.write(logits());
  SUBCASE("apart") {
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    check_rows(host, at_dx, 6, 1);
    CHECK(is_near(fp32_at(host, at_lse + 20), std::log(40.)));
  }
  SUBCASE("dx on x, scaled") {
    s.dx.dl.data = s.x.dl.data;
    s.problem.dloss_scale = -2;
    EXPECT_OK(call(s));
    check_rows(s.arena.content(), at_x, 6, -2);
  }
  SUBCASE("the loss alone") {
    s.lse.given = s.dx.given = nullptr;
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    CHECK(is_near(fp32_at(host, at_loss + 4), loss_at(1)));
    CHECK(fp32_at(host, at_lse) == 0);
    CHECK(fp32_at(host, at_dx) == 0);
  }
}

TEST_CASE("cross_entropy: every rank") {
  for (int rank = 1; rank <= 4; ++rank) {
    cross_entropy s;
    for (auto* t : {&s.x, &s.labels, &s.loss, &s.lse, &s.dx}) {
      bool const each = t != &s.x && t != &s.dx;
      t->dl.ndim = rank - each;
      t->dl.strides = nullptr;
      t->shape.fill(1);
      if (rank > 1) t->shape[0] = 2;
      if (!each) t->shape[static_cast<std::size_t>(rank) - 1] = 20;
      if (t->dl.ndim == 0 && t != &s.loss) t->dl.shape = nullptr;
    }
    s.arena.write(logits());
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    std::size_t const rows = rank > 1 ? 2 : 1;
    check_rows(host, at_dx, rows, 1);
    CHECK(fp32_at(host, at_loss + 4 * rows) == 0);
    CHECK(fp32_at(host, at_dx + 80 * rows) == 0);
  }
}

TEST_CASE("cross_entropy: labels of 64 bits, numbers of rows anywhere") {
  cross_entropy s;
  auto host = logits();
  s.labels.dl.dtype = int64;
  s.labels.strides[1] = -2, s.labels.strides[0] = -6;
  s.labels.move(80);
  for (int i = 0; i < 6; ++i) put_int64(host, at_labels + 80 - 16 * static_cast<std::size_t>(i), i);
  s.loss.strides[1] = 2, s.loss.strides[0] = 1;
  s.arena.write(host);
  EXPECT_OK(call(s));
  auto const got = s.arena.content();
  for (std::size_t row = 0; row < 6; ++row)
    CHECK(is_near(fp32_at(got, at_loss + 4 * (row / 3 + 2 * (row % 3))), loss_at(row)));
}

TEST_CASE("cross_entropy: labels that are ignored, or no columns") {
  cross_entropy s;
  auto host = logits();
  put_int32(host, at_labels, 20);
  put_int32(host, at_labels + 4, -1);
  put_int32(host, at_labels + 8, -100);
  s.arena.write(host);
  s.problem.has_ignore_index = 1;
  s.problem.ignore_index = -100;
  EXPECT_OK(call(s));
  auto got = s.arena.content();
  for (std::size_t row = 0; row < 2; ++row) {
    CHECK(std::isnan(fp32_at(got, at_loss + 4 * row)));
    for (std::size_t col = 0; col < 20; ++col)
      CHECK(std::isnan(fp32_at(got, at_dx + 4 * (20 * row + col))));
  }
  CHECK(fp32_at(got, at_loss + 8) == 0);
  for (std::size_t col = 0; col < 20; ++col) CHECK(fp32_at(got, at_dx + 4 * (40 + col)) == 0);
  for (std::size_t row = 0; row < 6; ++row)
    CHECK(is_near(fp32_at(got, at_lse + 4 * row), std::log(40.)));
  CHECK(is_near(fp32_at(got, at_loss + 12), loss_at(3)));
  // 0 is an index as others are, where it is asked for; none is ignored where it is not.
  s.problem.ignore_index = 0;
  put_int32(host, at_labels + 8, 0);
  s.arena.write(host);
  EXPECT_OK(call(s));
  CHECK(fp32_at(s.arena.content(), at_loss + 8) == 0);
  s.problem.has_ignore_index = 0;
  EXPECT_OK(call(s));
  CHECK(is_near(fp32_at(s.arena.content(), at_loss + 8), std::log(40.)));
}

TEST_CASE("cross_entropy: smoothing, z_loss and a softcap") {
  cross_entropy s;
  s.arena.write(logits());
  s.problem.label_smoothing = 0.5f;
  s.problem.z_loss = 0.25f;
  EXPECT_OK(call(s));
  double const lse = std::log(40.), log_3 = std::log(3.);
  auto const host = s.arena.content();
  CHECK(is_near(fp32_at(host, at_loss), lse - 0.25 * log_3 + 0.25 * lse * lse));
  CHECK(is_near(fp32_at(host, at_dx), 0.025 * (1 + 0.5 * lse) - 0.5 - 0.025));
  s.problem.label_smoothing = s.problem.z_loss = 0;
  s.problem.softcap = 2;
  EXPECT_OK(call(s));
  double const capped = 2 * std::tanh(log_3 / 2), sum = 10 + 10 * std::exp(capped);
  auto const got = s.arena.content();
  CHECK(is_near(fp32_at(got, at_loss + 4), std::log(sum) - capped));
  CHECK(is_near(fp32_at(got, at_dx + 4), std::exp(capped) / sum * (1 - capped * capped / 4)));
}

constexpr auto all = [](cross_entropy& s) {
  return std::vector{&s.x, &s.labels, &s.loss, &s.lse, &s.dx};
};

TEST_CASE("cross_entropy: all types, and nothing to do") {
  check_types<cross_entropy>([](cross_entropy& s) { return std::vector{&s.x, &s.dx}; });
  check_nothing<cross_entropy>(2, all);
  check_nothing<cross_entropy>(2, [](cross_entropy& s) {  // nor any vocabulary
    s.x.shape[2] = s.dx.shape[2] = 0;
    return all(s);
  });
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr std::int64_t most = most_rows_or_columns, vocab = 1 << 24;
  cross_entropy s;
  EXPECT_OK(supports(s, all(s), {1, 3, vocab}));
  CHECK(supports(s, all(s), {1, 3, vocab + 1}) == TK_UNSUPPORTED);
  CHECK(supports(s, all(s), {1, 3, 0}) == TK_UNSUPPORTED);
  EXPECT_OK(supports(s, all(s), {1, most, 20}));
  CHECK(supports(s, all(s), {1, most + 1, 20}) == TK_UNSUPPORTED);
  EXPECT_OK(supports(s, all(s), {1 << 10, 1 << 20, 1}));
  CHECK(supports(s, all(s), {1 << 11, 1 << 20, 1}) == TK_UNSUPPORTED);
}

TEST_CASE("a call's work is on its stream") {
  cross_entropy s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<cross_entropy>(); }
