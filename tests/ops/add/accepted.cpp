// SPDX-License-Identifier: MIT
// What add must not refuse: y on a or b, every rank, absent and broadcast b, all types, empty
// tensors; casts bit for bit. Values are chosen so that results are known.
#include <bit>
#include <cmath>

#include "tests/ops/add/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

constexpr std::size_t at_b = 8192, at_y = 16384;

// a is 0, 1, 2, ...; b 1000 times its row and its column.
bytes known_numbers() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) {
    put_fp32(host, 4 * i, static_cast<float>(i));
    put_fp32(host, at_b + 4 * i, static_cast<float>(1000 * (i / 20) + i % 20));
  }
  return host;
}
template <class Expected> void check_sums(bytes const& host, std::size_t at, Expected expected) {
  for (std::size_t i = 0; i < 120; ++i)
    REQUIRE(fp32_at(host, at + 4 * i) == expected(static_cast<int>(i)));
}

}  // namespace

TEST_CASE("add: y may be a or b, b may be none") {
  add s;
  s.b.shape[1] = 3;
  s.b.strides[0] = 60;
  s.problem.alpha = 2;
  s.problem.beta = -1;
  s.arena.write(known_numbers());
  auto const sum = [](int i) { return 2 * i - 1000 * (i / 20) - i % 20; };
  SUBCASE("apart") {
    EXPECT_OK(call(s));
    check_sums(s.arena.content(), at_y, sum);
  }
  SUBCASE("y on a") {
    s.y.dl.data = s.a.dl.data;
    EXPECT_OK(call(s));
    check_sums(s.arena.content(), 0, sum);
  }
  SUBCASE("y on b") {
    s.y.dl.data = s.b.dl.data;
    EXPECT_OK(call(s));
    check_sums(s.arena.content(), at_b, sum);
  }
  SUBCASE("all in one place") {
    s.y.dl.data = s.b.dl.data = s.a.dl.data;
    EXPECT_OK(call(s));
    check_sums(s.arena.content(), 0, [](int i) { return i; });
  }
  SUBCASE("b is not looked at where beta is 0") {
    s.problem.beta = 0;
    for (bool const none : {false, true}) {
      s.b.given = none ? nullptr : &s.b.dl;
      s.b.dl.data = s.y.dl.data;
      s.b.dl.ndim = -1;
      EXPECT_OK(call(s));
      check_sums(s.arena.content(), at_y, [](int i) { return 2 * i; });
    }
  }
}

TEST_CASE("add: b stands for what it lacks") {
  for (int lacks = 0; lacks < 4; ++lacks) {
    add s;
    s.arena.write(known_numbers());
    s.b.shape[0] = lacks & 1 ? 1 : 2;
    s.b.shape[1] = lacks & 2 ? 1 : 3;
    s.b.strides[0] = lacks & 2 ? 20 : 60;
    EXPECT_OK(call(s));
    check_sums(s.arena.content(), at_y, [&](int i) {
      int const h = lacks & 1 ? 0 : i / 60, row = lacks & 2 ? 0 : i / 20 % 3;
      return i + 1000 * (h * (lacks & 2 ? 1 : 3) + row) + i % 20;
    });
  }
}

TEST_CASE("add: every rank") {
  for (int rank = 1; rank <= 4; ++rank) {
    add s;
    for (auto* t : {&s.a, &s.b, &s.y}) set_rank(*t, rank);
    s.arena.write(known_numbers());
    EXPECT_OK(call(s));
    auto const host = s.arena.content();
    std::size_t const count = rank > 1 ? 40 : 20;
    for (std::size_t i = 0; i < count; ++i)
      CHECK(fp32_at(host, at_y + 4 * i) == static_cast<float>(i + 1000 * (i / 20) + i % 20));
    CHECK(fp32_at(host, at_y + 4 * count) == 0);
  }
}

// Each of the 2^16 numbers of a type to fp32 and back; those of one to the other type and to
// itself. NaN is one, of any kind.
TEST_CASE("add: casts are exact bit for bit") {
  constexpr std::int64_t all = 1 << 16;
  auto const value = [](bool is_bf16, std::uint32_t bits) {
    if (is_bf16) return std::bit_cast<float>(bits << 16);
    std::uint32_t const e = bits >> 10 & 31, m = bits & 0x3ff;
    float magnitude =
        std::ldexp(static_cast<float>(e > 0 ? m | 0x400 : m), int(e > 0 ? e : 1) - 25);
    if (e == 31) magnitude = m > 0 ? std::nanf("") : HUGE_VALF;
    return std::copysign(magnitude, bits & 0x8000 ? -1.f : 1.f);
  };
  memory arena(12 * all);
  bytes host(12 * all, 0);
  for (std::uint32_t i = 0; i < all; ++i) {
    host[2 * i] = static_cast<unsigned char>(i);
    host[2 * i + 1] = static_cast<unsigned char>(i >> 8);
  }
  for (auto const type : {bf16, fp16})
    for (std::int64_t const lead : {0, 1}) {  // in rows that are whole, and others
      bool const is_bf16 = type.code == kDLBfloat;
      arena.write(host);
      tensor half(arena.at(2 * lead), type, {all - lead}),
          wide(arena.at(4 * all), fp32, {all - lead}), back(arena.at(8 * all), type, {all - lead}),
          same(arena.at(10 * all), type, {all - lead});
      memory counters(TK_COUNTER_BYTES);
      auto const convert = [&](tensor& a, tensor& y) {
        tk_add_problem const p{sizeof p, a.given, nullptr, y.given, 1, 0, TK_REPEAT_RUN, 0};
        EXPECT_OK(tk_add(&p, counters.at(), counters.size(), nullptr));
      };
      convert(half, wide);
      convert(wide, back);
      convert(half, same);
      auto const got = arena.content();
      auto const half_at = [&](std::size_t at) {
        return got[at] | std::uint32_t{got[at + 1]} << 8;
      };
      std::int64_t wrong = 0;
      for (std::int64_t i = lead; i < all; ++i) {
        auto const bits = static_cast<std::uint32_t>(i);
        auto const at = static_cast<std::size_t>(i - lead);
        float const exact = value(is_bf16, bits), found = fp32_at(got, 4 * all + 4 * at);
        auto const back_bits = half_at(8 * all + 2 * at), same_bits = half_at(10 * all + 2 * at);
        if (std::isnan(exact))
          wrong += !std::isnan(found) || !std::isnan(value(is_bf16, back_bits)) ||
                   !std::isnan(value(is_bf16, same_bits));
        else
          wrong += std::bit_cast<std::uint32_t>(found) != std::bit_cast<std::uint32_t>(exact) ||
                   back_bits != bits || same_bits != bits;
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("add: all types, and nothing to do") {
  for (auto const a : {bf16, fp16, fp32})
    for (auto const y : {bf16, fp16, fp32}) {
      add s;
      s.a.dl.dtype = a;
      for (auto* t : {&s.b, &s.y}) t->dl.dtype = y;
      auto const before = s.arena.content();
      EXPECT_OK(call(s));
      CHECK(s.arena.content() != before);
    }
  check_nothing<add>(3, [](add& s) { return std::vector{&s.a, &s.b, &s.y}; });
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  check_largest<add>([](add& s) {
    s.problem.beta = 0;
    return std::vector{&s.a, &s.y};
  });
}

TEST_CASE("a call's work is on its stream") {
  add s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<add>(); }
