// SPDX-License-Identifier: MIT
// What topk must not refuse: either result alone, every rank, both types of indices, all types of
// numbers, k = 0 and other empty tensors. Values are chosen so that results are known.
#include "tests/ops/topk/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

// 7, 14, 1, 8, 15, 2 ... of twenty columns: all of 0 ... 19, in another order in each row.
float number(std::size_t row, std::size_t col) {
  return static_cast<float>((7 * (col + 1) + row) % 20);
}
bytes known_numbers() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) put_fp32(host, at_x + 4 * i, number(i / 20, i % 20));
  return host;
}
std::int64_t index_at(bytes const& host, std::size_t i, bool wide) {
  std::int64_t index = 0;
  std::memcpy(&index, &host[at_indices + (wide ? 8 : 4) * i], wide ? 8 : 4);
  return index;
}

struct how {
  bool smallest = false, wide = false, values = true, indices = true;
};
void check_rows(bytes const& host, std::size_t rows, how const& is = {}) {
  for (std::size_t i = 0; i < 4 * rows; ++i) {
    CAPTURE(i);
    float const expected = static_cast<float>(is.smallest ? i % 4 : 19 - i % 4);
    if (is.values) REQUIRE(fp32_at(host, at_values + 4 * i) == expected);
    if (!is.indices) continue;
    auto const col = index_at(host, i, is.wide);
    REQUIRE(col >= 0);
    REQUIRE(col < 20);
    REQUIRE(number(i / 4, static_cast<std::size_t>(col)) == expected);
  }
}

}  // namespace

TEST_CASE("topk: the largest or the smallest, either result alone, indices of both types") {
  for (bool const smallest : {false, true})
    for (bool const wide : {false, true})
      for (int const results : {1, 2, 3}) {
        how const is{smallest, wide, (results & 1) != 0, (results & 2) != 0};
        topk s;
        s.problem.smallest = smallest;
        s.indices.dl.dtype = wide ? int64 : int32;
        if (!is.values) s.values.given = nullptr;
        if (!is.indices) s.indices.given = nullptr;
        s.arena.write(known_numbers());
        EXPECT_OK(call(s));
        auto const host = s.arena.content();
        check_rows(host, 6, is);
        if (!is.values) CHECK(fp32_at(host, at_values) == 0);
        if (!is.indices) CHECK(fp32_at(host, at_indices) == 0);
      }
}

TEST_CASE("topk: every rank") {
  for (int rank = 1; rank <= 4; ++rank) {
    topk s;
    for (auto* t : s.all()) set_rank(*t, rank);
    for (auto* t : {&s.values, &s.indices}) t->shape[static_cast<std::size_t>(rank) - 1] = 4;
    s.arena.write(known_numbers());
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    std::size_t const rows = rank > 1 ? 2 : 1;
    check_rows(host, rows);
    CHECK(fp32_at(host, at_values + 16 * rows) == 0);
  }
}

TEST_CASE("topk: all of a row, in order, and equal numbers by column") {
  topk s;
  for (auto* t : {&s.values, &s.indices}) t->shape[2] = 20, t->dl.strides = nullptr;
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) put_fp32(host, at_x + 4 * i, i % 2 ? -0.f : 0.f);
  s.arena.write(host);
  for (int const smallest : {0, 1}) {
    s.problem.smallest = smallest;
    EXPECT_OK(call(s));
    auto const got = s.arena.content();
    for (std::size_t i = 0; i < 120; ++i)
      REQUIRE(index_at(got, i, false) == static_cast<std::int64_t>(i % 20));
  }
}

TEST_CASE("topk: all types, and nothing to do") {
  for (auto const type : {bf16, fp16, fp32}) {
    topk s;
    s.x.dl.dtype = s.values.dl.dtype = type;
    auto const before = s.arena.content();
    EXPECT_OK(call(s));
    CHECK(s.arena.content() != before);
  }
  check_nothing<topk>(3, [](topk& s) { return s.all(); });
  topk none;  // of rows that are there
  for (auto* t : {&none.values, &none.indices}) {
    t->shape[2] = 0;
    t->dl.data = nullptr;
  }
  auto const before = none.arena.content();
  EXPECT_OK(topk::call(none.get()));
  CHECK(none.arena.content() == before);
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr auto most = most_rows_or_columns;
  topk s;
  auto const supports = [&](std::int64_t h, std::int64_t rows, std::int64_t width, std::int64_t k) {
    for (auto* t : s.all()) {
      t->dl.strides = nullptr;
      t->shape[0] = h, t->shape[1] = rows, t->shape[2] = t == &s.x ? width : k;
    }
    return tk_supports(topk::op, s.get());
  };
  EXPECT_OK(supports(1, 3, most, 1024));
  CHECK(supports(1, 3, most, 1025) == TK_UNSUPPORTED);
  CHECK(supports(1, 3, most + 1, 4) == TK_UNSUPPORTED);
  EXPECT_OK(supports(1, most, 20, 1));
  CHECK(supports(1, most + 1, 20, 1) == TK_UNSUPPORTED);
  CHECK(supports(1 << 11, 1 << 20, 1, 1) == TK_UNSUPPORTED);
  EXPECT_OK(supports(1 << 11, 1 << 20, 5000, 0));  // nothing to do
}

TEST_CASE("a call's work is on its stream") {
  topk s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<topk>(); }
