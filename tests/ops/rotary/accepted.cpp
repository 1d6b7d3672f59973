// SPDX-License-Identifier: MIT
// What rotary must not refuse: results on q and k, keys of as many heads as queries, of others, and
// none; every rank, positions and offsets of both types and outside of the tables, all types, empty
// tensors. Values are chosen so that results are known.
#include "tests/ops/rotary/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;

constexpr std::size_t d = 10, w = 4;

// q is 1, 2, ... along each row; k 10, 20, ...; the row p of cos is p + 1, of sin 100 (p + 1).
bytes known_numbers() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 12 * d; ++i)
    put_fp32(host, at_q + 4 * i, static_cast<float>(i % d + 1));
  for (std::size_t i = 0; i < 6 * d; ++i)
    put_fp32(host, at_k + 4 * i, static_cast<float>(10 * (i % d + 1)));
  for (std::size_t i = 0; i < 5 * w; ++i) {
    put_fp32(host, at_cos + 4 * i, static_cast<float>(i / w + 1));
    put_fp32(host, at_sin + 4 * i, static_cast<float>(100 * (i / w + 1)));
  }
  return host;
}

struct how {
  bool interleaved = false;
  float sin = 100;
};
// Rows of `heads` for each token, of which the i-th has row(i) of the tables, or none: -1.
template <class Row>
void check_rows(bytes const& host, std::size_t at, std::size_t tokens, std::size_t heads, float x,
                Row row, how const& is = {}) {
  for (std::size_t i = 0; i < tokens * heads; ++i) {
    float const by = static_cast<float>(row(static_cast<int>(i / heads)) + 1);
    for (std::size_t col = 0; col < d; ++col) {
      CAPTURE(i);
      CAPTURE(col);
      auto const value = [&](std::size_t c) { return x * static_cast<float>(c + 1); };
      bool const second = is.interleaved ? col % 2 == 1 : col >= w;
      std::size_t const other = is.interleaved ? col ^ 1 : second ? col - w : col + w;
      float const expected = col >= 2 * w ? value(col)
                             : second     ? by * (value(col) + is.sin * value(other))
                                          : by * (value(col) - is.sin * value(other));
      REQUIRE(fp32_at(host, at + 4 * (i * d + col)) == expected);
    }
  }
}
int in_order(int token) { return token % 3; }

}  // namespace

TEST_CASE("rotary: results may be q and k") {
  for (bool const interleaved : {false, true}) {
    how const is{interleaved};
    rotary s;
    s.problem.interleaved = interleaved;
    s.arena.write(known_numbers());
    EXPECT_OK(call(s));
    auto const apart = s.arena.content();
    check_rows(apart, at_q_out, 6, 2, 1, in_order, is);
    check_rows(apart, at_k_out, 6, 1, 10, in_order, is);
    s.q_out.dl.data = s.q.dl.data;
    s.k_out.dl.data = s.k.dl.data;
    EXPECT_OK(call(s));
    auto const in_place = s.arena.content();
    check_rows(in_place, at_q, 6, 2, 1, in_order, is);
    check_rows(in_place, at_k, 6, 1, 10, in_order, is);
  }
}

TEST_CASE("rotary: no keys, and the inverse") {
  rotary s;
  s.k.given = s.k_out.given = nullptr;
  s.problem.inverse = 1;
  s.arena.write(known_numbers());
  EXPECT_OK(call(s));
  auto const host = s.arena.content();
  check_rows(host, at_q_out, 6, 2, 1, in_order, {false, -100});
  CHECK(fp32_at(host, at_k_out) == 0);
}

// qkv[2, 3, 2 + 1 + 1, 10], of which q and k are rotated where they are.
TEST_CASE("rotary: slices of one tensor, in place") {
  rotary s;
  auto host = known_numbers();
  for (std::size_t i = 0; i < 6 * 4 * d; ++i)
    put_fp32(host, at_q + 4 * i, (i / d % 4 == 2 ? 10 : 1) * static_cast<float>(i % d + 1));
  s.arena.write(host);
  for (auto* t : s.heads()) t->strides = {120, 40, 10, 1};
  s.k.dl.data = s.k_out.dl.data = s.arena.at(at_q + 4 * 2 * d);
  s.q_out.dl.data = s.q.dl.data;
  EXPECT_OK(call(s));
  auto const got = s.arena.content();
  for (std::size_t token = 0; token < 6; ++token) {
    auto const row = [&](int) { return static_cast<int>(token % 3); };
    std::size_t const at = at_q + 4 * 4 * d * token;
    check_rows(got, at, 1, 2, 1, row);
    check_rows(got, at + 4 * 2 * d, 1, 1, 10, row);
    for (std::size_t col = 0; col < d; ++col)
      CHECK(fp32_at(got, at + 4 * (3 * d + col)) == static_cast<float>(col + 1));
  }
}

TEST_CASE("rotary: positions and offsets, of either type, in the tables or not") {
  std::int64_t const positions[] = {4, 0, 5, -1, 2, 2}, offsets[] = {2, -2};
  for (bool const wide : {false, true})
    for (bool const far : {false, true}) {
      auto host = known_numbers();
      auto const put = [&](std::size_t at, std::size_t i, std::int64_t x) {
        if (wide) put_int64(host, at + 8 * i, x);
        else put_int32(host, at + 4 * i, static_cast<std::int32_t>(x));
      };
      auto const out = wide ? std::int64_t{1} << 33 : std::int64_t{1} << 30;
      for (std::size_t i = 0; i < 6; ++i)
        put(at_positions, i, far && positions[i] == 5 ? out : positions[i]);
      for (std::size_t i = 0; i < 2; ++i) put(at_offsets, i, far && i == 0 ? out : offsets[i]);
      auto const type = wide ? int64 : int32;
      rotary_at_positions s;
      s.positions.dl.dtype = type;
      s.arena.write(host);
      EXPECT_OK(call(s));
      auto const row = [&](int token) {
        auto const at = positions[token];
        return at >= 0 && at < 5 ? static_cast<int>(at) : -1;
      };
      check_rows(s.arena.content(), at_q_out, 6, 2, 1, row);
      check_rows(s.arena.content(), at_k_out, 6, 1, 10, row);
      rotary_at_offsets o;
      o.offsets.dl.dtype = type;
      o.arena.write(host);
      EXPECT_OK(call(o));
      auto const row_of = [&](int token) {
        if (token < 3) return far || token > 2 ? -1 : token + 2;
        return token - 3 - 2 >= 0 ? token - 3 - 2 : -1;
      };
      check_rows(o.arena.content(), at_q_out, 6, 2, 1, row_of);
      check_rows(o.arena.content(), at_k_out, 6, 1, 10, row_of);
    }
}

TEST_CASE("rotary: three dimensions") {
  std::int32_t const positions[] = {3, 1, 4};
  for (int const numbered : {0, 1, 2}) {
    rotary s;
    for (auto* t : s.heads()) {
      t->dl.ndim = 3;
      t->shape = {3, t == &s.k || t == &s.k_out ? 1 : 2, 10};
      t->dl.strides = nullptr;
    }
    auto host = known_numbers();
    for (std::size_t i = 0; i < 3; ++i) put_int32(host, at_positions + 4 * i, positions[i]);
    put_int32(host, at_offsets, 2);
    s.positions.dl.ndim = 1;
    s.positions.shape[0] = 3, s.positions.strides[0] = 1;
    s.offsets.shape[0] = 1;
    if (numbered == 1) s.positions.given = &s.positions.dl;
    if (numbered == 2) s.offsets.given = &s.offsets.dl;
    s.arena.write(host);
    EXPECT_OK(call(s));
    auto const row = [&](int i) {
      return numbered == 0 ? i : numbered == 1 ? positions[i] : i + 2;
    };
    auto const got = s.arena.content();
    check_rows(got, at_q_out, 3, 2, 1, row);
    check_rows(got, at_k_out, 3, 1, 10, row);
    CHECK(fp32_at(got, at_q_out + 4 * 6 * d) == 0);
  }
}

TEST_CASE("rotary: all types, no pairs, and nothing to do") {
  for (auto const type : {bf16, fp16, fp32})
    for (auto const of_tables : {type, fp32}) {
      rotary s;
      for (auto* t : s.heads()) t->dl.dtype = type;
      for (auto* t : {&s.cos, &s.sin}) t->dl.dtype = of_tables;
      auto const before = s.arena.content();
      EXPECT_OK(call(s));
      CHECK(s.arena.content() != before);
    }
  rotary plain;
  for (auto* t : {&plain.cos, &plain.sin}) t->shape[1] = 0;
  plain.arena.write(known_numbers());
  EXPECT_OK(call(plain));
  auto const host = plain.arena.content();
  for (std::size_t i = 0; i < 12 * d; ++i)
    REQUIRE(fp32_at(host, at_q_out + 4 * i) == static_cast<float>(i % d + 1));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    rotary s;
    for (auto* t : s.heads()) {
      t->shape[axis] = 0;
      t->dl.data = nullptr;
    }
    auto const before = s.arena.content();
    EXPECT_OK(rotary::call(s.get()));
    CHECK(s.arena.content() == before);
  }
  rotary keys;  // alone
  for (auto* t : {&keys.q, &keys.q_out}) t->shape[2] = 0;
  keys.arena.write(known_numbers());
  EXPECT_OK(call(keys));
  check_rows(keys.arena.content(), at_k_out, 6, 1, 10, in_order);
  rotary_at_positions none;  // a table without rows
  for (auto* t : {&none.cos, &none.sin}) {
    t->shape[0] = 0;
    t->dl.data = nullptr;
  }
  none.arena.write(known_numbers());
  EXPECT_OK(call(none));
  check_rows(none.arena.content(), at_q_out, 6, 2, 1, [](int) { return -1; });
}

TEST_CASE("the largest sizes are supported, larger ones are not") {
  constexpr std::int64_t most = (std::int64_t(1) << 31) - 65537;
  rotary_at_offsets s;
  auto const supports = [&](std::int64_t b, std::int64_t n, std::int64_t h, std::int64_t hk,
                            std::int64_t width) {
    for (auto* t : s.heads()) {
      t->dl.strides = nullptr;
      t->shape = {b, n, t == &s.k || t == &s.k_out ? hk : h, width};
    }
    s.offsets.shape[0] = b;
    return tk_supports(rotary::op, s.get());
  };
  EXPECT_OK(supports(1, 1, 1, 1, most));
  CHECK(supports(1, 1, 1, 1, most + 1) == TK_UNSUPPORTED);
  EXPECT_OK(supports(1, most, 1, 1, 8));
  CHECK(supports(1, most + 1, 1, 1, 8) == TK_UNSUPPORTED);
  CHECK(supports(1, 1, 1, most + 1, 8) == TK_UNSUPPORTED);
  EXPECT_OK(supports(1 << 10, 1 << 19, 2, 1, 8));
  CHECK(supports(1 << 10, 1 << 19, 1, 4, 8) == TK_UNSUPPORTED);
  CHECK(supports(1 << 28, 1 << 28, 1, 1, 8) == TK_UNSUPPORTED);
}

TEST_CASE("a call's work is on its stream") {
  rotary s;
  check_stream(s);
}

TEST_CASE("rows more than 2^31 elements apart") { check_far_rows<rotary>(); }
