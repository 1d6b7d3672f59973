// SPDX-License-Identifier: MIT
// What linear_cross_entropy must not refuse: absent outputs, all types, chunks of any size, no rows
// and no columns. Values are chosen so that results are known.
#include <cmath>

#include "tests/ops/linear_cross_entropy/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

bool is_near(float x, double y) { return std::abs(x - y) < 4e-3; }

// x is 1 in column 0 of each row, w in rows 0 to 9 ln 3 rounded to 1.125: weights e^1.125 and 1.
// The i-th label is i.
constexpr float score = 1.125f;
bytes known_numbers() {
  bytes host(arena_bytes, 0);
  for (std::size_t row = 0; row < 6; ++row) {
    put_bf16(host, at_x + 16 * row, 1);
    put_int32(host, at_labels + 4 * row, static_cast<std::int32_t>(row));
  }
  for (std::size_t v = 0; v < 10; ++v) put_bf16(host, at_w + 16 * v, score);
  return host;
}
double const sum = 10 * std::exp(1.125) + 10, lse = std::log(sum), large = std::exp(1.125) / sum,
             small = 1 / sum;

float bf16_at(bytes const& host, std::size_t at) {
  std::uint16_t top;
  std::memcpy(&top, &host[at], 2);
  std::uint32_t const bits = std::uint32_t(top) << 16;
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

// Of `rows` rows, the first ones.
void check_all(bytes const& host, int rows) {
  for (std::size_t row = 0; row < 6; ++row) {
    bool const there = static_cast<int>(row) < rows;
    CHECK(is_near(fp32_at(host, at_loss + 4 * row), there ? lse - 1.125 : 0));
    CHECK(is_near(fp32_at(host, at_lse + 4 * row), there ? lse : 0));
    // Column 0: sum over the first ten of their gradients, times 1.125.
    CHECK(is_near(bf16_at(host, at_dx + 16 * row), there ? 1.125 * (10 * large - 1) : 0));
    CHECK(bf16_at(host, at_dx + 16 * row + 2) == 0);
  }
  for (std::size_t v = 0; v < 20; ++v) {
    double const of_each = v < 10 ? large : small;
    CHECK(is_near(fp32_at(host, at_dw + 32 * v),
                  rows * of_each - (static_cast<int>(v) < rows ? 1 : 0)));
    CHECK(fp32_at(host, at_dw + 32 * v + 4) == 0);
  }
}

}  // namespace

TEST_CASE("linear_cross_entropy: in chunks of any size") {
  for (std::int64_t const chunk : {0, 1, 2, 4, 5, 6, 7, 1 << 30}) {
    CAPTURE(chunk);
    linear_cross_entropy s;
    s.problem.chunk_rows = chunk;
    s.arena.write(known_numbers());
    EXPECT_OK(call(s));
    check_all(s.arena.content(), 6);
  }
}

TEST_CASE("linear_cross_entropy: outputs are optional") {
  auto const host = known_numbers();
  for (int given = 0; given < 8; ++given) {
    CAPTURE(given);
    linear_cross_entropy s;
    if (!(given & 1)) s.lse.given = nullptr;
    if (!(given & 2)) s.dx.given = nullptr;
    if (!(given & 4)) s.dw.given = nullptr;
    s.arena.write(host);
    EXPECT_OK(call(s));
    auto const got = s.arena.content();
    CHECK(is_near(fp32_at(got, at_loss + 20), lse - 1.125));
    CHECK(is_near(fp32_at(got, at_lse), given & 1 ? lse : 0));
    CHECK(is_near(bf16_at(got, at_dx), given & 2 ? 1.125 * (10 * large - 1) : 0));
    CHECK(is_near(fp32_at(got, at_dw + 32 * 19), given & 4 ? 6 * small : 0));
  }
}

TEST_CASE("linear_cross_entropy: the scale of gradients, ignored labels") {
  linear_cross_entropy s;
  s.problem.dloss_scale = -2;
  s.problem.has_ignore_index = 1;
  s.problem.ignore_index = 3;
  s.arena.write(known_numbers());
  EXPECT_OK(call(s));
  auto const host = s.arena.content();
  CHECK(is_near(fp32_at(host, at_loss + 4), lse - 1.125));
  CHECK(fp32_at(host, at_loss + 12) == 0);
  CHECK(is_near(bf16_at(host, at_dx), -2 * 1.125 * (10 * large - 1)));
  CHECK(bf16_at(host, at_dx + 48) == 0);
  CHECK(is_near(fp32_at(host, at_dw + 32 * 3), -2 * 5 * large));
}

TEST_CASE("linear_cross_entropy: no rows, no d, no vocabulary") {
  {
    linear_cross_entropy s;
    for (auto* t : {&s.x, &s.labels, &s.loss, &s.lse, &s.dx}) {
      t->shape[0] = 0;
      t->dl.data = nullptr;
    }
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    for (std::size_t i = 0; i < 160; ++i) CHECK(fp32_at(host, at_dw + 4 * i) == 0);
    CHECK(host[at_dw + 640] == arena_byte);
    s.dw.given = nullptr;
    EXPECT_OK(linear_cross_entropy::call(s.get()));
  }
  {
    linear_cross_entropy s;
    s.arena.write(known_numbers());
    for (auto* t : {&s.x, &s.w, &s.dx, &s.dw}) {
      t->shape[1] = 0;
      t->dl.data = nullptr;
    }
    EXPECT_OK(call(s));
    CHECK(is_near(fp32_at(s.arena.content(), at_loss), std::log(20.)));
  }
  linear_cross_entropy s;
  for (auto* t : {&s.x, &s.labels, &s.loss, &s.lse, &s.dx, &s.w, &s.dw}) t->shape[0] = 0;
  auto const before = s.arena.content();
  EXPECT_OK(linear_cross_entropy::call(s.get()));
  CHECK(s.arena.content() == before);
}

TEST_CASE("linear_cross_entropy: all types") {
  for (auto const type : {bf16, fp16})
    for (auto const of_dx : {type, fp32})
      for (auto const of_dw : {type, fp32})
        for (auto const of_labels : {int32, int64}) {
          linear_cross_entropy s;
          s.x.dl.dtype = s.w.dl.dtype = type;
          s.dx.dl.dtype = of_dx;
          s.dw.dl.dtype = of_dw;
          s.labels.dl.dtype = of_labels;
          auto const before = s.arena.content();
          EXPECT_OK(call(s));
          CHECK(s.arena.content() != before);
        }
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr std::int64_t most = (std::int64_t(1) << 31) - 65537, vocab = 1 << 24;
  linear_cross_entropy s;
  auto const supports = [&](std::int64_t rows, std::int64_t columns) {
    for (auto* t : {&s.x, &s.labels, &s.loss, &s.lse, &s.dx}) t->shape[0] = rows;
    for (auto* t : {&s.w, &s.dw}) t->shape[0] = columns;
    for (auto* t : {&s.x, &s.labels, &s.loss, &s.lse, &s.dx, &s.w, &s.dw}) t->dl.strides = nullptr;
    return tk_supports(linear_cross_entropy::op, s.get());
  };
  EXPECT_OK(supports(most, 20));
  CHECK(supports(most + 1, 20) == TK_UNSUPPORTED);
  EXPECT_OK(supports(3, vocab));
  CHECK(supports(3, vocab + 1) == TK_UNSUPPORTED);
  CHECK(supports(3, 0) == TK_UNSUPPORTED);
  EXPECT_OK(supports(0, vocab + 1));
}

// Of a chunk's logits, and no more than 512 MiB where none is asked for.
TEST_CASE("the workspace has room for one chunk of logits") {
  linear_cross_entropy s;
  auto const workspace = [&](std::int64_t rows, std::int64_t vocab, std::int64_t chunk) {
    for (auto* t : {&s.x, &s.labels, &s.loss, &s.lse, &s.dx}) t->shape[0] = rows;
    for (auto* t : {&s.w, &s.dw}) t->shape[0] = vocab;
    s.problem.chunk_rows = chunk;
    std::size_t bytes = 0;
    EXPECT_OK(tk_workspace(linear_cross_entropy::op, s.get(), &bytes));
    return bytes;
  };
  constexpr std::size_t parts = 100 << 20;  // what gemm and cross_entropy may want besides
  auto const of_100 = workspace(1 << 16, 1 << 17, 100);
  CHECK(of_100 >= std::size_t{100} << 18);
  CHECK(of_100 < (std::size_t{100} << 18) + parts);
  auto const chosen = workspace(1 << 16, 1 << 17, 0);
  CHECK(chosen >= std::size_t{1} << 28);
  CHECK(chosen < (std::size_t{1} << 29) + parts);
  auto const all = workspace(1000, 1000, 0);
  CHECK(all >= 1000 * 1024 * 2);
  CHECK(all < 1000 * 1024 * 2 + parts);
}

TEST_CASE("a call's work is on its stream") {
  linear_cross_entropy s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<linear_cross_entropy>(); }
