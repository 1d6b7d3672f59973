// SPDX-License-Identifier: MIT
// What quantise must not refuse: every rank and block, scales anywhere, all types, empty tensors.
// Values are chosen so that results are known.
#include <bit>

#include "tests/ops/quantise/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

constexpr unsigned char e4m3_1 = 0x38, e4m3_448 = 0x7e, e5m2_57344 = 0x7b;

// Row r is 448 times r + 1 in its first column, then r + 1 in turn with its negative.
bytes known_numbers(int rows) {
  bytes host(arena_bytes, 0);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < 20; ++c) {
      auto const by = static_cast<float>(r + 1);
      put_fp32(host, at_x + 4 * static_cast<std::size_t>(20 * r + c),
               c == 0  ? 448 * by
               : c % 2 ? by
                       : -by);
    }
  return host;
}
void check_row(bytes const& host, std::size_t r) {
  for (std::size_t c = 0; c < 20; ++c)
    REQUIRE(host[at_y + 20 * r + c] == (c == 0 ? e4m3_448 : c % 2 ? e4m3_1 : 0x80 | e4m3_1));
}

}  // namespace

TEST_CASE("quantise: every rank") {
  for (int rank = 1; rank <= 4; ++rank) {
    quantise s;
    for (auto* t : {&s.x, &s.y}) set_rank(*t, rank);
    s.scale.dl.ndim = rank - 1;
    s.scale.dl.strides = nullptr;
    s.scale.shape = {2, 1, 1};
    s.arena.write(known_numbers(2));
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    for (std::size_t r = 0; r < (rank > 1 ? 2 : 1); ++r) {
      check_row(host, r);
      CHECK(fp32_at(host, at_scale + 4 * r) == static_cast<float>(r + 1));
    }
    if (rank == 1) CHECK(host[at_y + 20] == 0);
  }
}

TEST_CASE("quantise: blocks of all kinds, with scales anywhere") {
  quantise_1x128 rows;
  rows.scale.dl.strides = rows.scale.strides.data();
  rows.scale.strides = {1, 2, 77};
  rows.arena.write(known_numbers(6));
  EXPECT_OK(call(rows));
  auto host = rows.arena.content();
  for (std::size_t r = 0; r < 6; ++r) {
    check_row(host, r);
    CHECK(fp32_at(host, at_scale + 4 * (r / 3 + 2 * (r % 3))) == static_cast<float>(r + 1));
  }
  quantise_128x128 squares;
  squares.arena.write(known_numbers(6));
  EXPECT_OK(call(squares));
  host = squares.arena.content();
  CHECK(fp32_at(host, at_scale) == 3);
  CHECK(fp32_at(host, at_scale + 4) == 6);
  check_row(host, 2);
  check_row(host, 5);
  quantise_tensor all;
  for (int rank = 0; rank < 2; ++rank) {
    all.scale.dl.ndim = rank;
    all.arena.write(known_numbers(6));
    EXPECT_OK(call(all));
    host = all.arena.content();
    CHECK(fp32_at(host, at_scale) == 6);
    check_row(host, 5);
  }
  quantise_given given;
  for (int rank = 0; rank < 2; ++rank) {
    given.scale.dl.ndim = rank;
    given.scale.shape[0] = 1;
    auto before = known_numbers(6);
    put_fp32(before, at_scale, 2);
    given.arena.write(before);
    EXPECT_OK(call(given));
    host = given.arena.content();
    CHECK(fp32_at(host, at_scale) == 2);
    check_row(host, 1);
    CHECK(host[at_y + 20 * 5] == e4m3_448);  // of 1344
  }
}

TEST_CASE("quantise: the largest numbers and -0") {
  for (bool const e5m2 : {false, true}) {
    quantise s;
    s.y.dl.dtype = e5m2 ? fp8_e5m2 : fp8_e4m3;
    bytes host(arena_bytes, 0);
    put_fp32(host, at_x, -57344);
    put_fp32(host, at_x + 4, -0.f);
    s.arena.write(host);
    EXPECT_OK(call(s));
    host = s.arena.content();
    CHECK(fp32_at(host, at_scale) == (e5m2 ? 1 : 128));
    CHECK(host[at_y] == (0x80 | (e5m2 ? e5m2_57344 : e4m3_448)));
    CHECK(host[at_y + 1] == 0x80);
    CHECK(host[at_y + 2] == 0);
    CHECK(fp32_at(host, at_scale + 4) == 0x1p-80f / (e5m2 ? 57344 : 448));
  }
}

TEST_CASE("quantise: powers of two are rounded up") {
  quantise s;
  s.problem.power_of_two = 1;
  s.arena.write(known_numbers(6));
  EXPECT_OK(call(s));
  auto const host = s.arena.content();
  float const scales[] = {1, 2, 4, 4, 8, 8};
  for (std::size_t r = 0; r < 6; ++r) CHECK(fp32_at(host, at_scale + 4 * r) == scales[r]);
}

TEST_CASE("quantise: all types, and nothing to do") {
  for (auto const type : {bf16, fp16, fp32})
    for (auto const y_type : {fp8_e4m3, fp8_e5m2}) {
      quantise s;
      s.x.dl.dtype = type;
      s.y.dl.dtype = y_type;
      auto const before = s.arena.content();
      EXPECT_OK(call(s));
      CHECK(s.arena.content() != before);
    }
  check_nothing<quantise>(2, [](quantise& s) { return std::vector{&s.x, &s.y, &s.scale}; });
}

// Rows without columns have scales; so has a tensor without elements.
TEST_CASE("quantise: what is empty has the least scale") {
  auto const check = [](auto& s, std::size_t axis, std::size_t scales) {
    for (auto* t : {&s.x, &s.y}) {
      t->shape[axis] = 0;
      t->dl.data = nullptr;
    }
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    for (std::size_t i = 0; i < scales; ++i)
      CHECK(fp32_at(host, at_scale + 4 * i) == 0x1p-80f / 448);
    CHECK(host[at_scale + 4 * scales] == arena_byte);
  };
  quantise rows;
  check(rows, 2, 6);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    quantise_tensor s;
    check(s, axis, 1);
  }
  quantise_1x128 blocks;
  blocks.scale.shape[2] = 0;
  check(blocks, 2, 0);
  quantise_128x128 squares;
  squares.scale.shape[2] = 0;
  check(squares, 2, 0);
  quantise_given given;
  check(given, 2, 0);
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  check_largest<quantise>([](quantise& s) { return std::vector{&s.x, &s.y, &s.scale}; });
}

TEST_CASE("a call's work is on its stream") {
  quantise s;
  check_stream(s);
  quantise_128x128 squares;
  check_stream(squares);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<quantise>(); }
