// SPDX-License-Identifier: MIT
// What embedding_backward must not refuse: numbers of both types, in the table or not, ignored
// ones; every rank, all types, no tokens, empty tensors; rows of dy on each other. Values are
// chosen so that results are known.
#include <limits>

#include "tests/ops/embedding/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

constexpr std::size_t d = 20;
using ids_of_tokens = std::array<std::int64_t, 6>;

// Column c of token i is 2^i + c; numbers are int64 where `wide`.
bytes known_numbers(ids_of_tokens const& ids, bool wide) {
  bytes host(arena_bytes, 0x77);
  for (std::size_t i = 0; i < 6 * d; ++i)
    put_fp32(host, at_dy + 4 * i, static_cast<float>((1 << i / d) + int(i % d)));
  for (std::size_t i = 0; i < 6; ++i) {
    if (wide) put_int64(host, at_ids + 8 * i, ids[i]);
    else put_int32(host, at_ids + 4 * i, static_cast<std::int32_t>(ids[i]));
  }
  return host;
}
void check_rows(bytes const& host, ids_of_tokens const& ids, bool ignores = false,
                std::int64_t ignored = 0, bool all_first = false) {
  for (std::size_t row = 0; row < 5; ++row) {
    float sum = 0;
    int count = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      if (ids[i] != static_cast<std::int64_t>(row) || (ignores && ids[i] == ignored)) continue;
      sum += static_cast<float>(1 << (all_first ? 0 : i));
      ++count;
    }
    CAPTURE(row);
    for (std::size_t c = 0; c < d; ++c)
      REQUIRE(fp32_at(host, at_dtable + 4 * (row * d + c)) ==
              sum + static_cast<float>(count) * static_cast<float>(c));
  }
}

}  // namespace

TEST_CASE("embedding's backward: numbers of either type, in the table or not, ignored or not") {
  using limits32 = std::numeric_limits<std::int32_t>;
  using limits64 = std::numeric_limits<std::int64_t>;
  for (bool const wide : {false, true}) {
    std::int64_t const least = wide ? limits64::min() : limits32::min(),
                       most = wide ? limits64::max() : limits32::max();
    for (auto const& ids :
         {ids_of_tokens{4, 1, 4, 0, 1, 4}, ids_of_tokens{2, 2, 2, 2, 2, 2},
          ids_of_tokens{least, 3, -1, most, 5, 3}, ids_of_tokens{least, most, -1, 5, 6, -5}})
      for (std::int64_t const ignored : {std::int64_t{-1}, std::int64_t{2}, std::int64_t{4}, least})
        for (bool const ignores : {false, true}) {
          embedding_backward s;
          s.ids.dl.dtype = wide ? int64 : int32;
          s.problem.ignores = ignores;
          s.problem.ignored_id = ignores ? ignored : 0;
          s.arena.write(known_numbers(ids, wide));
          EXPECT_OK(call(s));
          check_rows(s.arena.content(), ids, ignores, ignored);
        }
  }
}

TEST_CASE("embedding's backward: one row of dy for all tokens") {
  ids_of_tokens const ids{0, 1, 1, 3, 1, 0};
  embedding_backward s;
  s.dy.strides = {0, 0, 1};
  s.arena.write(known_numbers(ids, false));
  EXPECT_OK(call(s));
  check_rows(s.arena.content(), ids, false, 0, true);
}

TEST_CASE("embedding's backward: every rank") {
  ids_of_tokens const ids{0, 3, 3, 7, 0, 3};
  for (int rank = 1; rank <= 3; ++rank) {
    embedding_backward s;
    s.ids.dl.ndim = rank;
    s.dy.dl.ndim = rank + 1;
    s.ids.dl.strides = s.dy.dl.strides = nullptr;
    s.ids.shape = {rank == 1 ? 6 : 2, rank == 2 ? 3 : 1, 3};
    s.dy.shape = {s.ids.shape[0], rank == 1 ? 20 : s.ids.shape[1], rank == 2 ? 20 : 3, 20};
    s.arena.write(known_numbers(ids, false));
    EXPECT_OK(call(s));
    check_rows(s.arena.content(), ids);
  }
}

TEST_CASE("embedding's backward: all types, no tokens, and nothing to do") {
  check_types<embedding_backward>(
      [](embedding_backward& s) { return std::vector{&s.dy, &s.dtable}; });
  check_types<embedding_backward>([](embedding_backward& s) { return std::vector{&s.dy}; });
  for (std::size_t const axis : {0u, 1u}) {
    embedding_backward none;
    none.dy.shape[axis] = none.ids.shape[axis] = 0;
    // Other sizes say nothing then.
    none.dy.shape[1 - axis] = none.ids.shape[1 - axis] = (std::int64_t{1} << 31) - 1025;
    none.dy.dl.data = none.ids.dl.data = nullptr;
    EXPECT_OK(call(none));
    check_rows(none.arena.content(), {9, 9, 9, 9, 9, 9});
  }
  for (std::size_t const axis : {0u, 1u}) {
    embedding_backward s;
    s.dtable.shape[axis] = 0;
    s.dtable.dl.data = nullptr;
    if (axis == 1) s.dy.shape[2] = 0;
    auto const before = s.arena.content();
    EXPECT_OK(embedding_backward::call(s.get()));
    CHECK(s.arena.content() == before);
  }
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr std::int64_t most = most_rows_or_columns;
  embedding_backward s;
  auto const supported = [&](std::int64_t rows, std::int64_t n, std::int64_t width,
                             std::int64_t v) {
    for (auto* t : {&s.dy, &s.ids, &s.dtable}) t->dl.strides = nullptr;
    s.ids.shape = {rows, n};
    s.dy.shape = {rows, n, width};
    s.dtable.shape = {v, width};
    return tk_supports(embedding_backward::op, s.get());
  };
  EXPECT_OK(supported(1, 3, most, 5));
  CHECK(supported(1, 3, most + 1, 5) == TK_UNSUPPORTED);
  EXPECT_OK(supported(1, most, 20, (std::int64_t{1} << 31) - 1025));
  CHECK(supported(1, most + 1, 20, 5) == TK_UNSUPPORTED);
  CHECK(supported(1 << 11, 1 << 20, 1, 5) == TK_UNSUPPORTED);
  CHECK(supported(1 << 30, 1 << 30, 1, 5) == TK_UNSUPPORTED);
}

TEST_CASE("a call's work is on its stream") {
  embedding_backward s;
  check_stream(s);
}

// Of dy and of dtable, in mappings of which few pages are touched.
TEST_CASE("rows more than 2^31 elements apart") {
  if (tk_device_type() != kDLCPU) return;
  constexpr std::int64_t apart = (std::int64_t{1} << 31) + 24;
  ids_of_tokens const ids{4, 0, 3, -1, 4, 2};
  embedding_backward s;
  sparse_memory const dy(static_cast<std::size_t>(6 * apart * 4)),
      dtable(static_cast<std::size_t>(5 * apart * 4));
  s.arena.write(known_numbers(ids, false));
  s.dy.dl.data = dy.data();
  s.dtable.dl.data = dtable.data();
  s.dy.strides = {3 * apart, apart, 1};
  s.dtable.strides = {apart, 1};
  for (std::int64_t i = 0; i < 6; ++i)
    reinterpret_cast<float*>(dy.data())[i * apart + 19] = static_cast<float>(1 << i);
  EXPECT_OK(call(s));
  float const expected[] = {2, 0, 32, 4, 17};
  for (std::int64_t r = 0; r < 5; ++r)
    CHECK(reinterpret_cast<float*>(dtable.data())[r * apart + 19] == expected[r]);
}
