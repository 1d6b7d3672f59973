// SPDX-License-Identifier: MIT
// What norm must not refuse: outputs in place of inputs, one row, absent operands, all types, empty
// tensors. Values are chosen so that results are known.
#include <cmath>

#include "tests/ops/norm/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

// 1 and 3 in turn: the mean is 2, the variance 1; with eps = 3, y is half of what it was.
// rsqrt may be off by an ulp or two.
bool is_near(float x, float y) { return std::abs(x - y) < 1e-6f; }
bytes ones_and_threes(std::size_t first, std::size_t count) {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < count; ++i) put_fp32(host, first + 4 * i, i % 2 ? 3 : 1);
  return host;
}

}  // namespace

TEST_CASE("norm: y and r may be x and residual, rows may be one, and optional operands none") {
  norm s;
  s.problem.eps = 3;
  s.weight.given = s.bias.given = nullptr;
  SUBCASE("y on x, r on residual") {
    s.arena.write(ones_and_threes(0, 40));
    s.y.dl.data = s.x.dl.data;
    s.r.dl.data = s.residual.dl.data;
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    for (std::size_t i = 0; i < 40; ++i) {
      REQUIRE(is_near(fp32_at(host, 4 * i), i % 2 ? 0.5f : -0.5f));
      REQUIRE(fp32_at(host, 4096 + 4 * i) == (i % 2 ? 3 : 1));
    }
  }
  SUBCASE("one row of rank 1") {
    s.arena.write(ones_and_threes(4096, 20));
    for (auto* t : {&s.x, &s.residual, &s.y, &s.r}) {
      t->dl.ndim = 1;
      t->shape[0] = 20;
      t->strides[0] = 1;
    }
    s.x.dl.dtype = fp32;
    EXPECT_OK(call(s));
    CHECK(is_near(fp32_at(s.arena.content(), 16384), -0.5f));
    CHECK(is_near(fp32_at(s.arena.content(), 16384 + 19 * 4), 0.5f));
  }
  SUBCASE("nothing but x and y") {
    s.residual.given = s.r.given = nullptr;
    s.problem.kind = TK_NORM_RMS;
    s.arena.write(ones_and_threes(0, 40));  // mean square 5
    s.problem.eps = 11;
    EXPECT_OK(call(s));
    CHECK(is_near(fp32_at(s.arena.content(), 16384), 0.25f));
    CHECK(is_near(fp32_at(s.arena.content(), 16384 + 39 * 4), 0.75f));
  }
}

// x is 1 and 3 in turn: of RMSNorm with eps 11, y is a quarter of it.
TEST_CASE("norm of every rank; leading sizes of 1 may be left out") {
  norm s;
  s.problem.kind = TK_NORM_RMS;
  s.problem.eps = 11;
  s.residual.given = s.weight.given = s.bias.given = nullptr;
  auto const set_rank = [](tensor& t, int rank, std::int64_t rows) {
    t.dl.ndim = rank;
    t.dl.strides = nullptr;
    t.shape.fill(1);
    auto const last = static_cast<std::size_t>(rank) - 1;
    if (rank > 1) t.shape[last - 1] = rows;
    if (rows > 2) t.shape[0] = 2, t.shape[last - 1] = rows / 2;
    t.shape[last] = 20;
  };
  auto const run = [&](std::size_t rows) {
    s.arena.write(ones_and_threes(0, 20 * rows));
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    for (std::size_t i = 0; i < 20 * rows; ++i) {
      REQUIRE(is_near(fp32_at(host, 16384 + 4 * i), i % 2 ? 0.75f : 0.25f));
      REQUIRE(fp32_at(host, 20480 + 4 * i) == (i % 2 ? 3 : 1));
    }
    REQUIRE(fp32_at(host, 16384 + 80 * rows) == 0);  // not written
  };
  for (int rank = 1; rank <= 4; ++rank) {
    auto const rows = rank == 1 ? 1 : rank == 2 ? 2 : 6;
    for (auto* t : {&s.x, &s.y, &s.r}) set_rank(*t, rank, rows);
    run(static_cast<std::size_t>(rows));
  }
  for (int x = 1; x <= 4; ++x)
    for (int y = 1; y <= 4; ++y) {
      set_rank(s.x, x, 1), set_rank(s.y, y, 1), set_rank(s.r, 5 - y, 1);
      run(1);
    }
}

TEST_CASE("norm: all types, and nothing to do") {
  for (auto const type : {bf16, fp16, fp32}) {
    for (auto const scale : {type, fp32}) {
      norm s;
      for (auto* t : {&s.x, &s.residual, &s.y, &s.r}) t->dl.dtype = type;
      s.weight.dl.dtype = s.bias.dl.dtype = scale;
      auto const before = s.arena.content();
      EXPECT_OK(call(s));
      CHECK(s.arena.content() != before);
      for (auto* t : {&s.residual, &s.r}) t->dl.dtype = fp32;
      EXPECT_OK(call(s));
      for (auto* t : {&s.residual, &s.r}) {  // one of both
        t->given = nullptr;
        EXPECT_OK(call(s));
        t->given = &t->dl;
      }
    }
  }
  for (int axis = 0; axis < 2; ++axis) {
    norm s;
    for (auto* t : {&s.x, &s.residual, &s.y, &s.r}) t->shape[axis] = 0;
    if (axis == 1) s.weight.shape[0] = s.bias.shape[0] = 0;
    for (auto const& argument : s.arguments()) {
      auto& t = *argument.of;
      if (&t == &s.random_state) continue;
      if (axis == 1 || t.dl.ndim == 2) t.dl.data = nullptr;
    }
    auto const before = s.arena.content();
    EXPECT_OK(norm::call(s.get()));
    CHECK(s.arena.content() == before);
  }
  for (std::size_t axis = 0; axis < 4; ++axis) {  // of matrices
    norm s;
    for (auto* t : {&s.x, &s.residual, &s.y, &s.r}) {
      t->dl.ndim = 4;
      t->dl.data = nullptr;
      t->shape = {2, 3, 2, 20};
      t->shape[axis] = 0;
    }
    if (axis == 3) s.weight.shape[0] = s.bias.shape[0] = 0;
    auto const before = s.arena.content();
    EXPECT_OK(norm::call(s.get()));
    CHECK(s.arena.content() == before);
  }
}

TEST_CASE("norm: y of fp8, its scale for each row or given, rows without columns") {
  for (auto const type : {bf16, fp16})
    for (auto const to : {fp8_e4m3, fp8_e5m2}) {
      norm_fp8 s;
      for (auto* t : {&s.x, &s.residual, &s.weight, &s.bias, &s.r}) t->dl.dtype = type;
      s.y.dl.dtype = to;
      s.y_scale.strides[0] = 3;
      EXPECT_OK(call(s));
      auto const host = s.arena.content();
      CHECK(fp32_at(host, 28672) > 0);
      CHECK(fp32_at(host, 28672) == fp32_at(host, 28672 + 12));
      CHECK(fp32_at(host, 28672 + 4) == fp32_at(host, 28672 + 8));  // as it was
    }
  norm_fp8 one;  // row
  for (auto* t : {&one.x, &one.residual, &one.y, &one.r}) {
    t->dl.ndim = 1;
    t->shape[0] = 20;
    t->strides[0] = 1;
  }
  one.y_scale.dl.ndim = 0;
  EXPECT_OK(call(one));
  norm_fp8 none;
  for (auto* t : {&none.x, &none.residual, &none.y, &none.r}) t->shape[1] = 0;
  none.weight.shape[0] = none.bias.shape[0] = 0;
  EXPECT_OK(call(none));
  CHECK(fp32_at(none.arena.content(), 28672 + 4) == 0x1p-80f / 448);
}

// Scales of [2, 3, rows], of which those of a column are together.
TEST_CASE("norm: y of fp8 in matrices, rows without columns among them") {
  for (std::int64_t const width : {20, 0}) {
    norm_fp8 s;
    for (auto* t : {&s.x, &s.residual, &s.y, &s.r}) {
      t->dl.ndim = 4;
      t->dl.strides = nullptr;
      t->shape = {2, 3, 4, width};
    }
    s.weight.shape[0] = s.bias.shape[0] = width;
    s.y_scale.dl.ndim = 3;
    s.y_scale.shape = {2, 3, 4};
    s.y_scale.strides = {3, 1, 7};
    auto const before = fp32_at(s.arena.content(), 28672);
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    float const first = fp32_at(host, 28672);
    CHECK((width == 0 ? first == 0x1p-80f / 448 : first > 0 && first != before));
    for (std::size_t at = 0; at < 29; ++at)
      CHECK(fp32_at(host, 28672 + 4 * at) == (at % 7 < 6 && at < 27 ? first : before));
    s.y_scale.shape[1] = s.x.shape[1] = 0;
    for (auto* t : {&s.residual, &s.y, &s.r}) t->shape[1] = 0;
    EXPECT_OK(call(s));
    CHECK(s.arena.content() == host);
  }
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr std::int64_t most = (std::int64_t(1) << 31) - 65537;
  norm s;
  auto const supports = [&](int axis, std::int64_t size) {
    for (auto* t : {&s.x, &s.residual, &s.y, &s.r}) {
      t->dl.strides = nullptr;
      t->shape[axis] = size;
    }
    if (axis == 1) s.weight.shape[0] = s.bias.shape[0] = size;
    return tk_supports(norm::op, s.get());
  };
  for (int axis = 0; axis < 2; ++axis) {
    EXPECT_OK(supports(axis, most));
    CHECK(supports(axis, most + 1) == TK_UNSUPPORTED);
    EXPECT_OK(supports(axis, 1));
  }
  // Rows count through all matrices.
  auto const supports_matrices = [&](std::int64_t b, std::int64_t h, std::int64_t rows) {
    for (auto* t : {&s.x, &s.residual, &s.y, &s.r}) {
      t->dl.ndim = 4;
      t->shape = {b, h, rows, 1};
    }
    return tk_supports(norm::op, s.get());
  };
  EXPECT_OK(supports_matrices(1, most, 1));
  CHECK(supports_matrices(most + 1, 1, 1) == TK_UNSUPPORTED);
  EXPECT_OK(supports_matrices(1 << 10, 1 << 10, 1 << 10));
  CHECK(supports_matrices(1 << 10, 1 << 11, 1 << 10) == TK_UNSUPPORTED);
  EXPECT_OK(supports_matrices(1 << 30, 1 << 30, 0));
}

TEST_CASE("a call's work is on its stream") {
  norm s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<norm>(); }
