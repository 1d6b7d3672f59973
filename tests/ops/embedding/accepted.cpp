// SPDX-License-Identifier: MIT
// What embedding must not refuse: numbers of both types and any strides, in the table or not, up to
// the ends of their types; every rank, all types, tables without rows, empty tensors. Values are
// chosen so that results are known.
#include <limits>

#include "tests/ops/embedding/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

constexpr std::size_t d = 20;

// Column c of row r is 100 (r + 1) + c.
void put_table(bytes& host) {
  for (std::size_t i = 0; i < 5 * d; ++i)
    put_fp32(host, at_table + 4 * i, static_cast<float>(100 * (i / d + 1) + i % d));
}
void check_row(bytes const& host, std::size_t place, std::int64_t id) {
  CAPTURE(place);
  bool const is = id >= 0 && id < 5;
  for (std::size_t c = 0; c < d; ++c)
    REQUIRE(fp32_at(host, at_y + 4 * (place * d + c)) ==
            (is ? static_cast<float>(100 * (id + 1)) + static_cast<float>(c) : 0));
}

}  // namespace

TEST_CASE("embedding: numbers of either type, in the table or not, at any strides") {
  using limits32 = std::numeric_limits<std::int32_t>;
  using limits64 = std::numeric_limits<std::int64_t>;
  for (bool const wide : {false, true})
    for (std::int64_t const step : {1, 3, -2}) {
      std::int64_t const ids[] = {4,  wide ? limits64::min() : limits32::min(), 0, 5,
                                  -1, wide ? limits64::max() : limits32::max()};
      embedding s;
      s.ids.dl.dtype = wide ? int64 : int32;
      s.ids.strides[1] = step;
      s.ids.strides[0] = 3 * step;
      std::size_t const size = wide ? 8 : 4;
      if (step < 0) s.ids.move(static_cast<std::int64_t>(size) * 10);
      bytes host(arena_bytes, 0x77);
      put_table(host);
      for (std::int64_t i = 0; i < 6; ++i) {
        auto const at =
            at_ids + size * static_cast<std::size_t>(step < 0 ? 10 + step * i : step * i);
        if (wide) put_int64(host, at, ids[i]);
        else put_int32(host, at, static_cast<std::int32_t>(ids[i]));
      }
      s.arena.write(host);
      EXPECT_OK(call(s));
      for (std::size_t i = 0; i < 6; ++i) check_row(s.arena.content(), i, ids[i]);
    }
}

TEST_CASE("embedding: 64-bit numbers are not cut to 32 bits") {
  embedding s;
  s.ids.dl.dtype = int64;
  bytes host(arena_bytes, 0);
  put_table(host);
  std::int64_t const ids[] = {2, (std::int64_t{1} << 32) + 2, -(std::int64_t{1} << 32), 3, 1, 0};
  for (std::size_t i = 0; i < 6; ++i) put_int64(host, at_ids + 8 * i, ids[i]);
  s.arena.write(host);
  EXPECT_OK(call(s));
  for (std::size_t i = 0; i < 6; ++i) check_row(s.arena.content(), i, ids[i]);
}

TEST_CASE("embedding: every rank") {
  for (int rank = 1; rank <= 3; ++rank) {
    embedding s;
    s.ids.dl.ndim = rank;
    s.y.dl.ndim = rank + 1;
    s.ids.dl.strides = s.y.dl.strides = nullptr;
    s.ids.shape = {rank == 1 ? 6 : 2, rank == 2 ? 3 : 1, 3};
    s.y.shape = {s.ids.shape[0], rank == 1 ? 20 : s.ids.shape[1], rank == 2 ? 20 : 3, 20};
    bytes host(arena_bytes, 0);
    put_table(host);
    for (std::size_t i = 0; i < 6; ++i)
      put_int32(host, at_ids + 4 * i, static_cast<std::int32_t>(i * 3 % 5));
    s.arena.write(host);
    EXPECT_OK(call(s));
    for (std::size_t i = 0; i < 6; ++i)
      check_row(s.arena.content(), i, static_cast<std::int64_t>(i * 3 % 5));
  }
}

TEST_CASE("embedding: all types, and nothing to do") {
  check_types<embedding>([](embedding& s) { return std::vector{&s.table, &s.y}; });
  check_nothing<embedding>(2, [](embedding& s) { return std::vector{&s.ids, &s.y}; });
  embedding narrow;  // d = 0
  narrow.table.shape[1] = narrow.y.shape[2] = 0;
  narrow.table.dl.data = narrow.y.dl.data = nullptr;
  EXPECT_OK(embedding::call(narrow.get()));
  embedding none;  // a table without rows
  none.table.shape[0] = 0;
  none.table.dl.data = nullptr;
  EXPECT_OK(call(none));
  for (std::size_t i = 0; i < 6; ++i) check_row(none.arena.content(), i, -1);
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr std::int64_t most = most_rows_or_columns;
  embedding s;
  auto const supported = [&](std::int64_t rows, std::int64_t n, std::int64_t width) {
    for (auto* t : {&s.table, &s.ids, &s.y}) t->dl.strides = nullptr;
    s.ids.shape = {rows, n};
    s.y.shape = {rows, n, width};
    s.table.shape = {5, width};
    return tk_supports(embedding::op, s.get());
  };
  EXPECT_OK(supported(1, 3, most));
  CHECK(supported(1, 3, most + 1) == TK_UNSUPPORTED);
  EXPECT_OK(supported(1, most, 20));
  CHECK(supported(1, most + 1, 20) == TK_UNSUPPORTED);
  CHECK(supported(1 << 11, 1 << 20, 1) == TK_UNSUPPORTED);
}

TEST_CASE("a call's work is on its stream") {
  embedding s;
  check_stream(s);
}

// Of table and of y, in mappings of which few pages are touched.
TEST_CASE("rows more than 2^31 elements apart") {
  if (tk_device_type() != kDLCPU) return;
  constexpr std::int64_t apart = (std::int64_t{1} << 31) + 24;
  embedding s;
  sparse_memory const table(static_cast<std::size_t>(5 * apart * 4)),
      y(static_cast<std::size_t>(6 * apart * 4));
  s.table.dl.data = table.data();
  s.y.dl.data = y.data();
  s.table.strides = {apart, 1};
  s.y.strides = {3 * apart, apart, 1};
  std::int32_t const ids[] = {4, 0, 3, -1, 1, 2};
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 6; ++i) put_int32(host, at_ids + 4 * i, ids[i]);
  s.arena.write(host);
  auto* const rows = reinterpret_cast<float*>(table.data());
  for (std::int64_t r = 0; r < 5; ++r) rows[r * apart + 19] = static_cast<float>(r + 1);
  EXPECT_OK(call(s));
  for (std::int64_t i = 0; i < 6; ++i)
    CHECK(reinterpret_cast<float*>(y.data())[i * apart + 19] == static_cast<float>(ids[i] + 1));
}
