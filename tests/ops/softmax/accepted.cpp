// SPDX-License-Identifier: MIT
// What softmax must not refuse: y on x, every rank, absent and broadcast bias and bool_mask, all
// types, empty tensors. Values are chosen so that results are known.
#include <cmath>

#include "tests/ops/softmax/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

// exp may be off by some ulp.
bool is_near(float x, double y) { return std::abs(x - y) < 1e-6; }

// 0 and ln 3 in turn: weights 1 and 3, so 1/40 and 3/40 of twenty.
bytes zeros_and_logs(std::size_t first, std::size_t count) {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < count; ++i) put_fp32(host, first + 4 * i, i % 2 ? std::log(3.f) : 0);
  return host;
}

void check_turns(bytes const& host, std::size_t first, std::size_t count, double even, double odd) {
  for (std::size_t i = 0; i < count; ++i)
    REQUIRE(is_near(fp32_at(host, first + 4 * i), i % 2 ? odd : even));
}

}  // namespace

TEST_CASE("softmax: y may be x, rows may be one, bias may be none") {
  unmasked_softmax s;
  s.bias.given = nullptr;
  s.arena.write(zeros_and_logs(0, 120));
  SUBCASE("y on x") {
    s.y.dl.data = s.x.dl.data;
    EXPECT_OK(call(s));
    check_turns(s.arena.content(), 0, 120, 0.025, 0.075);
  }
  SUBCASE("every rank") {
    for (int rank = 1; rank <= 4; ++rank) {
      for (auto* t : {&s.x, &s.y}) { set_rank(*t, rank); }
      s.arena.write(zeros_and_logs(0, 120));
      EXPECT_OK(call(s));
      auto const host = s.arena.content();
      std::size_t const count = rank > 1 ? 40 : 20;
      check_turns(host, 16384, count, 0.025, 0.075);
      CHECK(fp32_at(host, 16384 + 4 * count) == 0);
    }
  }
  SUBCASE("a scale") {
    s.problem.scale = -2;  // weights 1 and 1/9
    EXPECT_OK(call(s));
    check_turns(s.arena.content(), 16384, 120, 0.09, 0.01);
  }
  SUBCASE("a scale of 0") {
    s.problem.scale = 0;
    EXPECT_OK(call(s));
    check_turns(s.arena.content(), 16384, 120, 0.05, 0.05);
  }
}

// Of three rows and twenty columns: the first row sees eighteen.
TEST_CASE("softmax: a mask is aligned to the last column") {
  unmasked_softmax s;
  s.bias.given = nullptr;
  s.problem.mask = TK_MASK_CAUSAL;
  s.arena.write(bytes(arena_bytes, 0));
  EXPECT_OK(call(s));
  auto const host = s.arena.content();
  for (std::size_t row = 0; row < 6; ++row)
    for (std::size_t col = 0; col < 20; ++col) {
      std::size_t const seen = 18 + row % 3;
      REQUIRE(is_near(fp32_at(host, 16384 + 4 * (20 * row + col)),
                      col < seen ? 1 / static_cast<double>(seen) : 0));
    }
}

TEST_CASE("softmax: bias stands for what it lacks") {
  for (int lacks = 0; lacks < 4; ++lacks) {
    unmasked_softmax s;
    s.arena.write(zeros_and_logs(8192, 120));
    s.bias.shape[0] = lacks & 1 ? 1 : 2;
    s.bias.shape[1] = lacks & 2 ? 1 : 3;
    EXPECT_OK(call(s));
    check_turns(s.arena.content(), 16384, 120, 0.025, 0.075);
  }
}

// A row sees its even columns, but for the second of each three, which sees nothing.
TEST_CASE("softmax: bool_mask stands for what it lacks, and any byte but 0 is true") {
  for (int lacks = 0; lacks < 4; ++lacks)
    for (auto const type : {boolean, uint8})
      for (unsigned char const yes : {1, 2, 0x80, 0xff}) {
        unmasked_softmax s;
        s.bias.given = nullptr;
        s.bool_mask.given = &s.bool_mask.dl;
        s.bool_mask.dl.dtype = type;
        auto const h = s.bool_mask.shape[0] = lacks & 1 ? 1 : 2,
                   rows = s.bool_mask.shape[1] = lacks & 2 ? 1 : 3;
        s.bool_mask.strides[0] = rows * 20;
        bytes host(arena_bytes, 0);
        for (std::size_t i = 0; i < static_cast<std::size_t>(h * rows * 20); ++i)
          host[24576 + i] = i % 2 == 0 && (rows == 1 || i / 20 % 3 != 1) ? yes : 0;
        for (std::size_t i = 1; i < 120; i += 2) put_fp32(host, 4 * i, NAN);
        s.arena.write(host);
        EXPECT_OK(call(s));
        auto const got = s.arena.content();
        for (std::size_t i = 0; i < 120; ++i) {
          bool const seen = i % 2 == 0 && (rows == 1 || i / 20 % 3 != 1);
          float const y = fp32_at(got, 16384 + 4 * i);
          REQUIRE((seen ? is_near(y, 0.1) : y == 0));
        }
      }
}

TEST_CASE("softmax: both masks at once, of every rank") {
  for (int rank = 1; rank <= 4; ++rank) {
    unmasked_softmax s;
    s.bias.given = nullptr;
    s.bool_mask.given = &s.bool_mask.dl;
    s.problem.mask = TK_MASK_CAUSAL;
    for (auto* t : {&s.x, &s.y, &s.bool_mask}) set_rank(*t, rank);
    std::size_t const count = rank > 1 ? 40 : 20;
    bytes host(arena_bytes, 0);
    for (std::size_t i = 0; i < count; ++i) host[24576 + i] = i % 20 >= 10;
    s.arena.write(host);
    EXPECT_OK(call(s));
    auto const got = s.arena.content();
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t const end = rank == 2 && i < 20 ? 19 : 20;  // of [2, 20] the first row sees less
      bool const seen = i % 20 >= 10 && i % 20 < end;
      REQUIRE(is_near(fp32_at(got, 16384 + 4 * i), seen ? 1 / static_cast<double>(end - 10) : 0));
    }
  }
}

TEST_CASE("softmax: rows without weight are 0") {
  unmasked_softmax s;
  s.bias.shape[0] = 1, s.bias.shape[1] = 3;
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 20; ++i) put_fp32(host, 8192 + 80 + 4 * i, -HUGE_VALF);
  s.arena.write(host);
  EXPECT_OK(call(s));
  auto const got = s.arena.content();
  for (std::size_t i = 0; i < 120; ++i)
    REQUIRE(is_near(fp32_at(got, 16384 + 4 * i), i / 20 % 3 == 1 ? 0 : 0.05));
}

TEST_CASE("softmax: all types, and nothing to do") {
  for (auto const type : {bf16, fp16, fp32}) {
    for (auto const bias : {type, fp32}) {
      softmax s;
      for (auto* t : {&s.x, &s.y}) t->dl.dtype = type;
      s.bias.dl.dtype = bias;
      auto const before = s.arena.content();
      EXPECT_OK(call(s));
      CHECK(s.arena.content() != before);
    }
  }
  check_nothing<softmax>(3,
                         [](softmax& s) { return std::vector{&s.x, &s.bias, &s.y, &s.bool_mask}; });
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  check_largest<softmax>([](softmax& s) {
    s.bias.given = nullptr;
    return std::vector{&s.x, &s.y, &s.bool_mask};
  });
}

TEST_CASE("a call's work is on its stream") {
  softmax s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<softmax>(); }
