// SPDX-License-Identifier: MIT
// What must not be refused: slices of one buffer, empty tensors without data, no keys, all types,
// as many rows as can be counted.
#include <algorithm>
#include <limits>

#include "tests/ops/attention/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

constexpr std::size_t at_o = 12288, at_lse = 16384;

}  // namespace

TEST_CASE("q, k, v and o are slices of one buffer") {
  // [b, n, heads of q, k, v and o in a row, d]: zeros, and NaN where o is to be written
  constexpr std::int64_t b = 2, n = 6, hq = 4, hk = 2, d = 16, heads = 2 * hq + 2 * hk;
  constexpr std::size_t size = b * n * heads * d * 2;
  attention s;
  memory buffer(size);
  bytes host(size, 0);
  for (std::size_t row = 0; row < b * n; ++row) {
    auto const o = (row * heads + hq + 2 * hk) * d * 2;
    std::fill_n(host.begin() + std::ptrdiff_t(o), hq * d * 2, 0xff);
  }
  buffer.write(host);
  std::int64_t head = 0;
  auto const slice = [&](tensor& t, std::int64_t count) {
    t.dl.data = buffer.at(static_cast<std::size_t>(head * d * 2));
    std::int64_t const shape[] = {b, n, count, d}, strides[] = {n * heads * d, heads * d, d, 1};
    std::copy_n(shape, 4, t.shape.begin());
    std::copy_n(strides, 4, t.strides.begin());
    head += count;
  };
  slice(s.q, hq);
  slice(s.k, hk);
  slice(s.v, hk);
  slice(s.o, hq);
  s.lse.shape = {b, hq, n};
  s.lse.strides = {hq * n, n, 1};
  EXPECT_OK(call(s));
  CHECK(buffer.content() == bytes(size, 0));
}

TEST_CASE("nothing to write: accepted without data or workspace, and nothing happens") {
  for (int axis = 0; axis < 3; ++axis) {
    CAPTURE(axis);
    attention s;
    if (axis == 2) s.k.shape[2] = s.v.shape[2] = 0;
    if (axis == 0) s.k.shape[0] = s.v.shape[0] = 0;
    s.q.shape[axis] = s.o.shape[axis] = 0;
    s.lse.shape[axis == 0 ? 0 : 3 - axis] = 0;
    for (auto* t : {&s.q, &s.o, &s.lse}) t->dl.data = nullptr;
    auto const before = s.arena.content();
    EXPECT_OK(attention::call(s.get()));
    CHECK(s.arena.content() == before);
  }
}

TEST_CASE("nothing to see: nk = 0 writes o and lse") {
  attention s;
  s.k.shape[1] = s.v.shape[1] = 0;
  s.k.dl.data = s.v.dl.data = nullptr;
  s.arena.write(bytes(arena_bytes, 0xff));
  EXPECT_OK(call(s));
  auto const host = s.arena.content();
  for (std::size_t i = 0; i < 2 * 5 * 4 * 24 * 2; ++i) REQUIRE(host[at_o + i] == 0);
  for (std::size_t i = 0; i < 2 * 4 * 5; ++i) {
    REQUIRE(fp32_at(host, at_lse + 4 * i) == -std::numeric_limits<float>::infinity());
  }
}

TEST_CASE("all types, with and without lse") {
  for (auto const in : {bf16, fp16}) {
    attention s;
    for (auto* t : {&s.q, &s.k, &s.v, &s.o}) t->dl.dtype = in;
    EXPECT_OK(call(s));
    s.lse.given = nullptr;
    EXPECT_OK(call(s));
  }
}

TEST_CASE("queries look at no data") {
  attention s;
  std::size_t with = 1, without = 2;
  EXPECT_OK(tk_workspace(attention::op, s.get(), &with));
  for (auto const& argument : s.arguments()) argument.of->dl.byte_offset = 1;
  EXPECT_OK(tk_supports(attention::op, s.get()));
  EXPECT_OK(tk_workspace(attention::op, s.get(), &without));
  CHECK(with == without);
}

TEST_CASE("as many blocks of rows as can be counted are supported") {
  constexpr std::int64_t most = (std::int64_t(1) << 31) - 1 - 1024;
  attention s;
  s.lse.given = nullptr;
  for (auto* t : {&s.q, &s.k, &s.v, &s.o}) t->dl.strides = nullptr;
  auto const batches = [&](std::int64_t count) {
    for (auto* t : {&s.q, &s.k, &s.v, &s.o}) t->shape[0] = count;
    return tk_supports(attention::op, s.get());
  };
  EXPECT_OK(batches(most / 4));
  CHECK(batches(most / 4 + 1) == TK_UNSUPPORTED);
  CHECK(says(tk_last_error(), "tk_supports: q has 536870656 times 4 blocks"));
}

TEST_CASE("a call's work is on its stream") {
  attention s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<attention>(); }
