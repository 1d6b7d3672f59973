// SPDX-License-Identifier: MIT
// What must not be refused: slices of one buffer, empty tensors without data, no keys, no queries,
// all types, as many rows as can be counted.
#include <algorithm>
#include <limits>

#include "tests/ops/attention/backward_scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;
using s = attention_backward;

bool is_zero(tensor const& t, s const& x, std::size_t count) {
  auto const host = x.arena.content();
  auto const from = static_cast<char const*>(t.dl.data) - static_cast<char const*>(x.arena.at());
  return std::all_of(host.begin() + from, host.begin() + from + std::ptrdiff_t(2 * count),
                     [](unsigned char byte) { return byte == 0; });
}

}  // namespace

TEST_CASE("all tensors of queries are slices of one buffer, and so are those of keys") {
  s x;
  // [b, n, heads of q, o, dout and dq in a row, d]: zeros, so that the gradients are
  constexpr std::int64_t b = 2, n = 6, hq = 4, hk = 2, d = 16, heads = 4 * hq + 4 * hk;
  constexpr std::size_t size = b * n * heads * d * 2;
  memory buffer(size);
  bytes host(size, 0);
  for (std::size_t row = 0; row < b * n; ++row) {
    auto const dq = row * heads * d * 2;  // the outputs come first, and are NaN
    std::fill_n(host.begin() + std::ptrdiff_t(dq), (hq + 2 * hk) * d * 2, 0xff);
  }
  buffer.write(host);
  std::int64_t head = 0;
  for (auto* t : {&x.dq, &x.dk, &x.dv, &x.q, &x.k, &x.v, &x.o, &x.dout}) {
    bool const keys = t == &x.dk || t == &x.dv || t == &x.k || t == &x.v;
    t->dl.data = buffer.at(static_cast<std::size_t>(head * d * 2));
    std::int64_t const shape[] = {b, n, keys ? hk : hq, d};
    std::int64_t const strides[] = {n * heads * d, heads * d, d, 1};
    std::copy_n(shape, 4, t->shape.begin());
    std::copy_n(strides, 4, t->strides.begin());
    head += shape[2];
  }
  REQUIRE(head == heads);
  x.lse.shape = {b, hq, n};
  x.lse.strides = {hq * n, n, 1};
  EXPECT_OK(call(x));
  CHECK(buffer.content() == bytes(size, 0));
}

TEST_CASE("nothing to write: accepted without data or workspace, and nothing happens") {
  for (int kind = 0; kind < 3; ++kind) {
    CAPTURE(kind);
    s x;
    for (auto* t : x.halves()) {
      if (kind == 0) t->shape[0] = 0;
      if (kind == 1) t->shape[1] = 0;
      if (kind == 2) t->shape[2] = 0;
      t->dl.data = nullptr;
    }
    x.lse.shape[kind == 0 ? 0 : kind == 1 ? 2 : 1] = 0;
    x.lse.dl.data = nullptr;
    auto const before = x.arena.content();
    EXPECT_OK(s::call(x.get()));
    CHECK(x.arena.content() == before);
  }
}

TEST_CASE("no keys: dq is 0") {
  s x;
  for (auto* t : {&x.k, &x.v, &x.dk, &x.dv}) t->shape[1] = 0, t->dl.data = nullptr;
  x.arena.write(bytes(arena_bytes, 0xff));
  EXPECT_OK(call(x));
  CHECK(is_zero(x.dq, x, 2 * 5 * 4 * 16));
}

TEST_CASE("no queries, or no heads of queries: dk and dv are 0") {
  for (int axis = 1; axis < 3; ++axis) {
    CAPTURE(axis);
    s x;
    for (auto* t : {&x.q, &x.o, &x.dout, &x.dq}) t->shape[axis] = 0, t->dl.data = nullptr;
    x.lse.shape[3 - axis] = 0;
    x.lse.dl.data = nullptr;
    x.arena.write(bytes(arena_bytes, 0xff));
    EXPECT_OK(call(x));
    CHECK(is_zero(x.dk, x, 2 * 7 * 2 * 16));
    CHECK(is_zero(x.dv, x, 2 * 7 * 2 * 24));
  }
}

TEST_CASE("all types") {
  for (auto const in : {bf16, fp16}) {
    s x;
    for (auto* t : x.halves()) t->dl.dtype = in;
    EXPECT_OK(call(x));
  }
}

TEST_CASE("queries look at no data") {
  s x;
  std::size_t with = 1, without = 2;
  EXPECT_OK(tk_workspace(s::op, x.get(), &with));
  for (auto const& argument : x.arguments()) argument.of->dl.byte_offset = 1;
  EXPECT_OK(tk_supports(s::op, x.get()));
  EXPECT_OK(tk_workspace(s::op, x.get(), &without));
  CHECK(with == without);
}

TEST_CASE("as many blocks of rows as can be counted are supported") {
  constexpr std::int64_t most = ((std::int64_t(1) << 31) - 1 - 1024) / 4, of_batch = 4 + 2;
  s x;
  for (auto const& argument : x.arguments()) argument.of->dl.strides = nullptr;
  auto const batches = [&](std::int64_t count) {
    for (auto const& argument : x.arguments()) argument.of->shape[0] = count;
    return tk_supports(s::op, x.get());
  };
  EXPECT_OK(batches(most / of_batch));
  CHECK(batches(most / of_batch + 1) == TK_UNSUPPORTED);
  CHECK(says(tk_last_error(), "tk_supports: q and k have 89478443 times 6 blocks"));
}

TEST_CASE("a call's work is on its stream") {
  s x;
  check_stream(x);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<s>(); }
