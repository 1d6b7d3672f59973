// SPDX-License-Identifier: MIT
// What transpose must not refuse: every rank and type, empty tensors, matrices of one row or
// column; and that each bit arrives, of NaN too.
#include "tests/ops/transpose/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

constexpr std::size_t at_y = 16384;

void give(transpose& s, DLDataType type, std::vector<std::int64_t> const& sizes) {
  auto turned = sizes;
  std::swap(turned[turned.size() - 2], turned.back());
  for (auto* t : {&s.x, &s.y}) {
    auto const& shape = t == &s.x ? sizes : turned;
    t->dl.dtype = type;
    t->dl.ndim = static_cast<int>(shape.size());
    t->dl.strides = nullptr;
    std::copy(shape.begin(), shape.end(), t->shape.begin());
  }
}

}  // namespace

// Bytes of every kind, so that all that 16 bits hold are among them.
TEST_CASE("transpose: every rank, every type, every bit") {
  constexpr DLDataType types[] = {
      bf16, fp16, fp32, int32, {TK_DL_FLOAT8_E4M3FN, 8, 1}, {TK_DL_FLOAT8_E5M2, 8, 1}};
  std::vector<std::int64_t> const shapes[] = {
      {53, 61}, {1, 4096}, {4096, 1}, {3, 32, 40}, {2, 3, 7, 64}, {2, 2, 32, 31}, {1, 1, 1, 1}};
  for (auto const type : types)
    for (auto const& shape : shapes)
      for (int turn = 0; turn < (type.bits == 16 ? 17 : 2); ++turn) {
        transpose s;
        give(s, type, shape);
        bytes host(arena_bytes, 0);
        for (std::size_t i = 0; i < at_y / 2; ++i) {
          auto const number = i + static_cast<std::size_t>(turn) * 3989;
          host[2 * i] = static_cast<unsigned char>(number);
          host[2 * i + 1] = static_cast<unsigned char>(number >> 8);
        }
        s.arena.write(host);
        EXPECT_OK(call(s));
        auto const rank = shape.size(), size = std::size_t{type.bits} / 8;
        auto const n = static_cast<std::size_t>(shape[rank - 2]),
                   m = static_cast<std::size_t>(shape[rank - 1]);
        std::size_t matrices = 1;
        for (std::size_t i = 0; i + 2 < rank; ++i) matrices *= static_cast<std::size_t>(shape[i]);
        auto expected = host;
        for (std::size_t i = 0; i < matrices; ++i)
          for (std::size_t r = 0; r < n; ++r)
            for (std::size_t c = 0; c < m; ++c)
              std::memcpy(&expected[at_y + ((i * m + c) * n + r) * size],
                          &host[((i * n + r) * m + c) * size], size);
        CHECK(s.arena.content() == expected);
      }
}

TEST_CASE("transpose: nothing to do") {
  for (auto const& shape : {std::vector<std::int64_t>{0, 3, 20}, {2, 0, 20}, {2, 3, 0}}) {
    transpose s;
    give(s, fp32, shape);
    for (auto* t : {&s.x, &s.y}) t->dl.data = nullptr;
    auto const before = s.arena.content();
    EXPECT_OK(transpose::call(s.get()));
    CHECK(s.arena.content() == before);
  }
}

TEST_CASE("transpose wants no workspace") {
  transpose s;
  std::size_t needed = 1;
  give(s, bf16, {100, 1000, 1000});
  EXPECT_OK(tk_workspace(transpose::op, s.get(), &needed));
  CHECK(needed == 0);
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr std::int64_t tiles = most_rows_or_columns, longest = (std::int64_t(1) << 31) - 1025;
  transpose s;
  auto const supports = [&](std::vector<std::int64_t> const& shape) {
    give(s, bf16, shape);
    return tk_supports(transpose::op, s.get());
  };
  EXPECT_OK(supports({1, longest, 1}));
  EXPECT_OK(supports({1, 32, longest}));
  EXPECT_OK(supports({tiles, 1, 1}));
  CHECK(supports({tiles + 1, 1, 1}) == TK_UNSUPPORTED);
  EXPECT_OK(supports({1 << 15, 1 << 15, 32, 32}));
  CHECK(supports({1 << 15, 1 << 15, 32, 65}) == TK_UNSUPPORTED);
  CHECK(supports({1 << 16, 1 << 16, 1, 1}) == TK_UNSUPPORTED);
}

TEST_CASE("a call's work is on its stream") {
  transpose s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<transpose>(); }
