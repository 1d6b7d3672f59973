// SPDX-License-Identifier: MIT
// What must not be refused: outputs in one buffer with inputs but for other elements, c in place,
// negative strides, strides that don't count, empty tensors without data, byte offsets, broadcasts,
// all types. Values are small integers or zero, so that every result is exact.
#include <algorithm>
#include <limits>

#include "tests/ops/gemm/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

constexpr auto wild = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t at_a = 0, at_b = 4096, at_c = 8192, at_d = 12288, at_bias = 16384;

// An arena of zeros, but for a[i, 0] = i + 1 in the first batch and b[0, j] = 1: a b is i + 1.
bytes numbered_rows() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 8; ++i) put_bf16(host, at_a + i * 16 * 2, float(i + 1));
  for (std::size_t j = 0; j < 24; ++j) put_bf16(host, at_b + j * 2, 1);
  return host;
}

void expect_rows(gemm const& s, std::size_t first, std::ptrdiff_t row_bytes) {
  auto const host = s.arena.content();
  for (std::ptrdiff_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 24; ++j) {
      auto const at = static_cast<std::size_t>(std::ptrdiff_t(first) + i * row_bytes) + j * 4;
      REQUIRE(fp32_at(host, at) == float(i + 1));
    }
  }
}

}  // namespace

TEST_CASE("d lies between the rows of a") {
  gemm s;
  make_plain(s);
  auto host = bytes(arena_bytes, 0);
  constexpr std::size_t row = 16 * 2 + 24 * 4;  // bytes: a row of a, then one of d
  for (std::size_t i = 0; i < 8; ++i) put_bf16(host, i * row, float(i + 1));
  for (std::size_t j = 0; j < 24; ++j) put_bf16(host, at_b + j * 2, 1);
  s.arena.write(host);
  s.a.strides[1] = row / 2;
  s.d.dl.data = s.arena.at(16 * 2);
  s.d.strides[1] = row / 4;
  EXPECT_OK(call(s));
  expect_rows(s, 16 * 2, row);
}

TEST_CASE("all four transposes") {
  for (int form = 0; form < 4; ++form) {
    CAPTURE(form);
    std::size_t const ta = form & 1, tb = form >> 1;
    gemm s;
    make_plain(s);
    s.problem.transpose_a = int(ta);
    s.problem.transpose_b = int(tb);
    s.a.dl.strides = s.b.dl.strides = nullptr;
    if (ta) std::swap(s.a.shape[1], s.a.shape[2]);
    if (tb) std::swap(s.b.shape[1], s.b.shape[2]);
    bytes host(arena_bytes, 0);  // but for the last step of k: a[i, 15] = i + 1, b[15, j] = 1
    for (std::size_t i = 0; i < 8; ++i) {
      put_bf16(host, at_a + 2 * (ta ? 15 * 8 + i : 16 * i + 15), float(i + 1));
    }
    for (std::size_t j = 0; j < 24; ++j)
      put_bf16(host, at_b + 2 * (tb ? 16 * j + 15 : 15 * 24 + j), 1);
    s.arena.write(host);
    EXPECT_OK(call(s));
    expect_rows(s, at_d, 24 * 4);
  }
}

TEST_CASE("c is d") {
  gemm s;
  make_plain(s);
  s.problem.beta = 2;
  s.c.shape[0] = 1;
  s.c.given = &s.c.dl;
  s.c.dl.data = s.d.dl.data;
  s.c.strides[0] = wild;  // of size 1: the strides are the same where they count
  auto host = numbered_rows();
  for (std::size_t i = 0; i < 8 * 24; ++i) put_fp32(host, at_d + 4 * i, 0);
  s.arena.write(host);
  EXPECT_OK(call(s));
  expect_rows(s, at_d, 24 * 4);
  EXPECT_OK(call(s));  // 1 * (i + 1) + 2 * (i + 1)
  auto const after = s.arena.content();
  CHECK(fp32_at(after, at_d) == 3);
  CHECK(fp32_at(after, at_d + 7 * 24 * 4) == 24);
}

TEST_CASE("negative strides") {
  gemm s;
  make_plain(s);
  s.arena.write(numbered_rows());
  SUBCASE("of an input") {  // the rows of d come out in reverse
    s.a.move(7 * 16 * 2);
    s.a.strides[1] = -16;
    EXPECT_OK(call(s));
    CHECK(fp32_at(s.arena.content(), at_d) == 8);
    CHECK(fp32_at(s.arena.content(), at_d + 7 * 24 * 4) == 1);
  }
  SUBCASE("of the output") {
    s.d.move(7 * 24 * 4);
    s.d.strides[1] = -24;
    EXPECT_OK(call(s));
    expect_rows(s, at_d + 7 * 24 * 4, -24 * 4);
  }
}

TEST_CASE("strides of dimensions of size 1 are not looked at") {
  gemm s;
  make_plain(s);
  s.arena.write(numbered_rows());
  s.a.strides[0] = s.b.strides[0] = s.d.strides[0] = wild;
  EXPECT_OK(call(s));
  expect_rows(s, at_d, 24 * 4);
  // one column: a [8, 1] with rows 16 apart, b [1, 24]; last and first strides mean nothing
  s.a.shape[2] = s.b.shape[1] = 1;
  s.a.strides[2] = 77;
  s.b.strides[1] = wild;
  EXPECT_OK(call(s));
  expect_rows(s, at_d, 24 * 4);
}

TEST_CASE("no strides are row-major, and byte_offset counts") {
  gemm s;
  make_plain(s);
  s.arena.write(numbered_rows());
  for (auto* t : {&s.a, &s.b, &s.d}) {
    t->dl.strides = nullptr;
    t->dl.byte_offset = static_cast<std::uint64_t>(static_cast<char*>(t->dl.data) -
                                                   static_cast<char*>(s.arena.at()));
    t->dl.data = s.arena.at();
  }
  EXPECT_OK(call(s));
  expect_rows(s, at_d, 24 * 4);
}

TEST_CASE("a, b and c without a batch, or with one of size 1 or stride 0, serve all batches") {
  for (int form = 0; form < 3; ++form) {
    CAPTURE(form);
    gemm s;
    for (auto* t : {&s.a, &s.b, &s.c}) {
      if (form == 0) {
        t->dl.ndim = 2;
        for (auto* list : {&t->shape, &t->strides}) {
          std::rotate(list->begin(), list->begin() + 1, list->begin() + 3);
        }
      }
      if (form == 1) t->shape[0] = 1;
      if (form == 2) t->strides[0] = 0;
    }
    s.arena.write(numbered_rows());
    EXPECT_OK(call(s));
    expect_rows(s, at_d, 24 * 4);
    expect_rows(s, at_d + 8 * 24 * 4, 24 * 4);
  }
}

TEST_CASE("without beta, c is not looked at") {
  gemm s;
  make_plain(s);
  auto host = numbered_rows();
  std::fill_n(host.begin() + at_d, 8 * 24 * 4, 0xff);  // NaN
  s.arena.write(host);
  s.c.given = &s.c.dl;
  SUBCASE("NULL") { s.c.given = nullptr; }
  SUBCASE("anything") { s.c.dl.ndim = -4; }
  SUBCASE("on d") { s.c.dl.data = s.d.dl.data; }
  EXPECT_OK(call(s));
  expect_rows(s, at_d, 24 * 4);
}

TEST_CASE("all types") {
  for (auto const in : {bf16, fp16}) {
    for (auto const out : {bf16, fp16, fp32}) {
      for (auto const bias : {out, fp32}) {
        gemm s;
        s.a.dl.dtype = s.b.dl.dtype = in;
        s.c.dl.dtype = s.d.dl.dtype = out;
        s.bias.dl.dtype = bias;
        auto const before = s.arena.content();
        EXPECT_OK(call(s));
        CHECK(s.arena.content() != before);
      }
    }
  }
}

TEST_CASE("nothing to write: accepted without data or workspace, and nothing happens") {
  for (int axis = 0; axis < 3; ++axis) {
    CAPTURE(axis);
    gemm s;
    if (axis == 0) s.a.shape[0] = s.b.shape[0] = s.c.shape[0] = 0;
    if (axis == 1) s.a.shape[1] = s.c.shape[1] = 0;
    if (axis == 2) s.b.shape[2] = s.c.shape[2] = s.bias.shape[0] = 0;
    s.d.shape[axis] = 0;
    for (auto* t : {&s.a, &s.b, &s.c, &s.bias, &s.d}) {
      if (t->shape[0] * t->shape[1] * t->shape[2] != 0) continue;
      t->dl.data = nullptr;
      if (t->dl.ndim == 3) t->strides[0] = t->strides[1] = wild;
    }
    auto const before = s.arena.content();
    std::size_t needed = 1;
    EXPECT_OK(tk_workspace(gemm::op, s.get(), &needed));
    CHECK(needed == 0);
    EXPECT_OK(gemm::call(s.get()));
    CHECK(s.arena.content() == before);
  }
}

TEST_CASE("nothing to sum: k = 0 writes d") {
  gemm g;
  g.a.shape[2] = g.b.shape[1] = 0;
  g.a.dl.data = g.b.dl.data = nullptr;
  g.problem.beta = 3;
  bytes host(arena_bytes, 0xff);
  for (std::size_t i = 0; i < 2 * 8 * 24; ++i) put_fp32(host, at_c + 4 * i, 5);
  for (std::size_t i = 0; i < 24; ++i) put_fp32(host, at_bias + 4 * i, float(i));
  g.arena.write(host);
  EXPECT_OK(call(g));
  host = g.arena.content();
  for (std::size_t i = 0; i < 2 * 8 * 24; ++i) {
    REQUIRE(fp32_at(host, at_d + 4 * i) == 15 + float(i % 24));
  }
}

TEST_CASE("queries look at no data") {
  gemm s;
  std::size_t with = 1, without = 2;
  EXPECT_OK(tk_workspace(gemm::op, s.get(), &with));
  for (auto const& argument : s.arguments()) argument.of->dl.data = nullptr;
  EXPECT_OK(tk_supports(gemm::op, s.get()));
  EXPECT_OK(tk_workspace(gemm::op, s.get(), &without));
  CHECK(with == without);
}

TEST_CASE("a call's work is on its stream") {
  gemm s;
  check_stream(s);
}

// Rows of both operands lie badly for most chips, which copy them first, in launches of their own.
TEST_CASE("so are the copies that gemm makes of its operands") {
  constexpr std::int64_t m = 96, n = 107, k = 129;
  memory const arena(std::size_t{1} << 17, arena_byte);
  tensor a(arena.at(0), bf16, {m, k}), b(arena.at(1 << 15), bf16, {k, n});
  tensor d(arena.at(1 << 16), fp32, {m, n});
  tk_gemm_problem problem{};
  problem.size = sizeof problem;
  problem.a = &a.dl, problem.b = &b.dl, problem.d = &d.dl;
  problem.alpha = 1;
  check_stream(TK_OP_GEMM, problem, arena, tk_gemm);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<gemm>(); }
