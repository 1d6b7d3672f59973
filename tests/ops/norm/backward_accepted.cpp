// SPDX-License-Identifier: MIT
// What norm_backward must not refuse: dx in place of inputs, every rank, absent operands, all
// types, no rows. Values are chosen so that results are known.
#include <cmath>

#include "tests/ops/norm/backward_scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;
using s = norm_backward;

// Scales may be off by an ulp or two, and are factors of all results.
bool is_near(float x, double y) { return std::abs(x - y) < 2e-6 * (1 + std::abs(y)); }

// r is 1 and 3 in turn, dy 16 and 0, dr 5.
void write(s& x) {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) {
    put_fp32(host, s::at_r + 4 * i, i % 2 ? 3 : 1);
    put_fp32(host, s::at_dy + 4 * i, i % 2 ? 0 : 16);
    put_fp32(host, s::at_dr + 4 * i, 5);
  }
  for (std::size_t i = 0; i < 20; ++i) put_fp32(host, s::at_weight + 4 * i, 0.5f);
  x.arena.write(host);
}
void check(bytes const& host, std::size_t at, std::size_t count, double even, double odd) {
  for (std::size_t i = 0; i < count; ++i)
    REQUIRE(is_near(fp32_at(host, at + 4 * i), i % 2 ? odd : even));
  REQUIRE(fp32_at(host, at + 4 * count) == 0);  // not written
}

}  // namespace

// With eps 3 of a LayerNorm: mean 2, scale 1/2, h -1/2 and 1/2, mean g 8, mean g h -4, so dx 3 and
// -3, times 1/2 where that is weight.
TEST_CASE("norm's backward: dx may be an input, optional operands may be none") {
  s x;
  x.problem.eps = 3;
  write(x);
  SUBCASE("all operands") {
    EXPECT_OK(call(x));
    auto const host = x.arena.content();
    check(host, s::at_dx, 120, 6.5, 3.5);
    check(host, s::at_dresidual, 120, 6.5, 3.5);
    check(host, s::at_dweight, 20, -48, 0);
    check(host, s::at_dbias, 20, 96, 0);
  }
  SUBCASE("dresidual on dr, dx on dy") {
    x.dresidual.dl.data = x.dr.dl.data;
    x.dx.dl.data = x.dy.dl.data;
    EXPECT_OK(call(x));
    check(x.arena.content(), s::at_dr, 120, 6.5, 3.5);
    check(x.arena.content(), s::at_dy, 120, 6.5, 3.5);
  }
  SUBCASE("nothing but r, dy and dx") {
    x.weight.given = x.dr.given = x.dweight.given = x.dbias.given = nullptr;
    x.dresidual.given = x.random_state.given = nullptr;
    EXPECT_OK(call(x));
    auto const host = x.arena.content();
    check(host, s::at_dx, 120, 3, -3);
    check(host, s::at_dresidual, 0, 0, 0);
    check(host, s::at_dweight, 0, 0, 0);
    check(host, s::at_dbias, 0, 0, 0);
  }
  SUBCASE("one of the sums") {
    x.dbias.given = nullptr;
    EXPECT_OK(call(x));
    check(x.arena.content(), s::at_dweight, 20, -48, 0);
    check(x.arena.content(), s::at_dbias, 0, 0, 0);
    write(x);
    std::swap(x.dbias.given, x.dweight.given);
    x.dbias.given = &x.dbias.dl;
    EXPECT_OK(call(x));
    check(x.arena.content(), s::at_dweight, 0, 0, 0);
    check(x.arena.content(), s::at_dbias, 20, 96, 0);
  }
  SUBCASE("dx on r") {
    x.dx.dl.data = x.r.dl.data;
    EXPECT_OK(call(x));
    check(x.arena.content(), s::at_r, 120, 6.5, 3.5);
    check(x.arena.content(), s::at_dweight, 20, -48, 0);
  }
  SUBCASE("dx on dy") {
    x.dx.dl.data = x.dy.dl.data;
    EXPECT_OK(call(x));
    check(x.arena.content(), s::at_dy, 120, 6.5, 3.5);
    check(x.arena.content(), s::at_dbias, 20, 96, 0);
  }
  SUBCASE("dx on dr") {
    x.dx.dl.data = x.dr.dl.data;
    EXPECT_OK(call(x));
    check(x.arena.content(), s::at_dr, 120, 6.5, 3.5);
  }
  SUBCASE("one input for all, which is dx") {  // g = h / scale: mean g h 1/2
    x.weight.given = nullptr;
    x.dy.dl.data = x.dr.dl.data = x.dx.dl.data = x.r.dl.data;
    EXPECT_OK(call(x));
    check(x.arena.content(), s::at_r, 120, 1 + 0.5 * (-1 + 0.25), 3 + 0.5 * (1 - 0.25));
  }
}

// With eps 11: scale 1/4, h 1/4 and 3/4, mean g h 2.
TEST_CASE("RMSNorm's backward, of every rank") {
  s x;
  x.problem.kind = TK_NORM_RMS;
  x.problem.eps = 11;
  x.weight.given = x.dr.given = nullptr;
  for (int rank = 1; rank <= 4; ++rank) {
    for (auto* t : x.rows()) {
      t->dl.ndim = rank;
      t->dl.strides = nullptr;
      t->shape.fill(1);
      if (rank > 1) t->shape[0] = 2;
      t->shape[static_cast<std::size_t>(rank) - 1] = 20;
    }
    write(x);
    EXPECT_OK(call(x));
    auto const host = x.arena.content();
    std::size_t const rows = rank > 1 ? 2 : 1;
    check(host, s::at_dx, 20 * rows, 3.875, -0.375);
    check(host, s::at_dweight, 20, 4 * double(rows), 0);
    check(host, s::at_dbias, 20, 16 * double(rows), 0);
  }
}

TEST_CASE("norm's backward: all types") {
  for (auto const type : {bf16, fp16, fp32})
    for (auto const weight : {type, fp32})
      for (auto const sums : {type, fp32}) {
        s x;
        for (auto* t : x.rows()) t->dl.dtype = type;
        x.weight.dl.dtype = weight;
        x.dweight.dl.dtype = x.dbias.dl.dtype = sums;
        auto const before = x.arena.content();
        EXPECT_OK(call(x));
        CHECK(x.arena.content() != before);
        for (auto* t : {&x.r, &x.dr, &x.dresidual}) t->dl.dtype = fp32;
        EXPECT_OK(call(x));
      }
}

TEST_CASE("norm's backward without rows: dweight and dbias are 0") {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    s x;
    for (auto* t : x.rows()) t->shape[axis] = 0, t->dl.data = nullptr;
    auto host = x.arena.content();
    EXPECT_OK(call(x));
    for (auto const at : {s::at_dweight, s::at_dbias})
      std::fill_n(host.begin() + std::ptrdiff_t(at), 80, static_cast<unsigned char>(0));
    CHECK(x.arena.content() == host);
    x.dweight.given = x.dbias.given = nullptr;
    EXPECT_OK(s::call(x.get()));
    CHECK(x.arena.content() == host);
  }
}
TEST_CASE("norm's backward without columns: nothing happens") {
  s x;
  for (auto* t : x.rows()) t->shape[2] = 0, t->dl.data = nullptr;
  for (auto* t : x.columns()) t->shape[0] = 0, t->dl.data = nullptr;
  auto const before = x.arena.content();
  EXPECT_OK(s::call(x.get()));
  CHECK(x.arena.content() == before);
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr std::int64_t most = (std::int64_t(1) << 31) - 65537;
  s x;
  auto const supports = [&](std::vector<std::int64_t> const& sizes) {
    for (auto* t : x.rows()) {
      t->dl.strides = nullptr;
      std::copy(sizes.begin(), sizes.end(), t->shape.begin());
    }
    for (auto* t : x.columns()) t->shape[0] = sizes.back();
    return tk_supports(s::op, x.get());
  };
  EXPECT_OK(supports({1, 3, most}));
  CHECK(supports({1, 3, most + 1}) == TK_UNSUPPORTED);
  CHECK(supports({0, 3, most + 1}) == TK_UNSUPPORTED);
  EXPECT_OK(supports({most, 1, 20}));
  CHECK(supports({1, most + 1, 20}) == TK_UNSUPPORTED);
  CHECK(supports({1 << 30, 1 << 30, 1}) == TK_UNSUPPORTED);
  EXPECT_OK(supports({1 << 30, 0, 20}));
}

TEST_CASE("a call's work is on its stream") {
  s x;
  check_stream(x);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<s>(); }
