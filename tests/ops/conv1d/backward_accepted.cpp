// SPDX-License-Identifier: MIT
// What conv1d's backward must not refuse: whatever may be absent, every rank, all types, empty
// tensors, packed sequences. Values are chosen so that results are known.
#include "tests/ops/conv1d/backward_scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/row_accepted.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;
using s = conv1d_backward;

// Token i of x is i + 1, of initial_state 10 (i + 1), of dfinal_state 100 (i + 1); dy 1; weights 1,
// 2, 3, 4.
bytes known_numbers() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) {
    auto const token = static_cast<float>(i / 20 + 1);
    put_fp32(host, s::at_x + 4 * i, token);
    put_fp32(host, s::at_initial + 4 * i, 10 * token);
    put_fp32(host, s::at_dfinal + 4 * i, 100 * token);
    put_fp32(host, s::at_dy + 4 * i, 1);
  }
  for (std::size_t i = 0; i < 80; ++i)
    put_fp32(host, s::at_weight + 4 * i, static_cast<float>(i % 4 + 1));
  return host;
}
void check_tokens(bytes const& host, std::size_t at, std::vector<float> const& expected) {
  for (std::size_t i = 0; i < 20 * expected.size(); ++i) {
    CAPTURE(i);
    REQUIRE(fp32_at(host, at + 4 * i) == expected[i / 20]);
  }
}
// The same for each channel.
void check_sums(bytes const& host, std::vector<float> const& dweight, float dbias) {
  for (std::size_t c = 0; c < 20; ++c) {
    for (std::size_t i = 0; i < 4; ++i)
      REQUIRE(fp32_at(host, s::at_dweight + 4 * (4 * c + i)) == dweight[i]);
    REQUIRE(fp32_at(host, s::at_dbias + 4 * c) == dbias);
  }
}

}  // namespace

TEST_CASE("conv1d's backward: tokens, states and sums") {
  s x;
  x.arena.write(known_numbers());
  EXPECT_OK(call(x));
  auto const got = x.arena.content();
  // Of three tokens: 2 + 3 + 4, 3 + 4 and 4, and what the final state adds.
  check_tokens(got, s::at_dx, {109, 207, 304, 409, 507, 604});
  check_tokens(got, s::at_dinitial, {1, 3, 6, 1, 3, 6});
  check_sums(got, {210, 50 + 1 + 110 + 4, 30 + 3 + 60 + 9, 6 + 15}, 6);
}

TEST_CASE("conv1d's backward: whatever may be absent is") {
  s x;
  for (auto* t : {&x.initial, &x.dfinal, &x.bias, &x.dweight, &x.dbias, &x.dinitial})
    t->given = nullptr;
  x.arena.write(known_numbers());
  EXPECT_OK(call(x));
  check_tokens(x.arena.content(), s::at_dx, {9, 7, 4, 9, 7, 4});
  check_tokens(x.arena.content(), s::at_dinitial, {0, 0, 0, 0, 0, 0});
  check_sums(x.arena.content(), {0, 0, 0, 0}, 0);
}

TEST_CASE("conv1d's backward: no token, but states and sums") {
  s x;
  for (auto* t : x.tokens()) t->shape[1] = 0, t->dl.data = nullptr;
  auto host = known_numbers();
  for (std::size_t i = 0; i < 80; ++i) put_fp32(host, s::at_dweight + 4 * i, 7);
  x.arena.write(host);
  EXPECT_OK(call(x));
  check_tokens(x.arena.content(), s::at_dinitial, {100, 200, 300, 400, 500, 600});
  check_sums(x.arena.content(), {0, 0, 0, 0}, 0);
  s none;  // no sequence
  for (auto* t : none.typed()) t->shape[0] = 0, t->dl.data = nullptr;
  none.arena.write(host);
  EXPECT_OK(call(none));
  check_sums(none.arena.content(), {0, 0, 0, 0}, 0);
}

TEST_CASE("conv1d's backward: packed sequences, of three dimensions and of two") {
  for (bool const flat : {false, true}) {
    conv1d_backward_packed x;
    auto host = known_numbers();
    std::int32_t const starts[] = {1, 1, 5};  // none, and four tokens
    for (std::size_t i = 0; i < 3; ++i) put_int32(host, s::at_starts + 4 * i, starts[i]);
    if (flat)
      for (auto* t : x.tokens()) t->dl.ndim = 2, t->shape = {6, 20}, t->dl.strides = nullptr;
    x.arena.write(host);
    EXPECT_OK(call(x));
    auto const got = x.arena.content();
    check_tokens(got, s::at_dx, {0, 10, 409, 507, 604, 0});
    check_tokens(got, s::at_dinitial, {100, 200, 300, 1, 3, 6});
    check_sums(got, {40 + 50 + 60 + 2, 50 + 60 + 5, 60 + 9, 14}, 4);
  }
}

TEST_CASE("conv1d's backward: all types, and nothing to do") {
  check_types<s>([](s& x) { return x.typed(); });
  check_types<s>([](s& x) {
    auto all = x.typed();
    for (auto* t : {&x.weight, &x.bias, &x.dweight, &x.dbias}) all.push_back(t);
    return all;
  });
  s narrow;  // c = 0
  for (auto* t : narrow.typed()) t->shape[2] = 0, t->dl.data = nullptr;
  for (auto* t : {&narrow.weight, &narrow.bias, &narrow.dweight, &narrow.dbias})
    t->shape[0] = 0, t->dl.data = nullptr;
  auto const before = narrow.arena.content();
  EXPECT_OK(s::call(narrow.get()));
  CHECK(narrow.arena.content() == before);
  s still;  // no token, and nothing else that is wanted
  still.dweight.given = still.dbias.given = still.dinitial.given = nullptr;
  for (auto* t : still.tokens()) t->shape[1] = 0, t->dl.data = nullptr;
  EXPECT_OK(s::call(still.get()));
  CHECK(still.arena.content() == before);
}

TEST_CASE("a call's work is on its stream") {
  s x;
  check_stream(x);
}

// Of tokens and states; weights and sums lie close together.
TEST_CASE("tokens more than 2^31 elements apart") {
  struct far_tokens : s {
    std::vector<argument> arguments() {
      return {{"x", &x},
              {"dy", &dy},
              {"initial_state", &initial},
              {"dfinal_state", &dfinal},
              {"dx", &dx},
              {"dinitial_state", &dinitial}};
    }
  };
  check_far_rows<far_tokens>();
}
