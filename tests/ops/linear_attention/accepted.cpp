// SPDX-License-Identifier: MIT
// What must not be refused: slices of one buffer, a state updated in place, no tokens, empty
// tensors without data, all types, as many blocks as can be counted.
#include "tests/ops/linear_attention/accepted_cases.hpp"

namespace {

using namespace scene;
using s = linear_attention;

constexpr std::size_t state_bytes = 2 * 2 * 16 * 32 * 4;

bytes part(bytes const& host, std::size_t at, std::size_t size) {
  auto const from = host.begin() + std::ptrdiff_t(at);
  return {from, from + std::ptrdiff_t(size)};
}

}  // namespace

TEST_CASE("q, k, v and o are slices of one buffer") {
  // [b, n, heads of q, k, v and o in a row, d]: zeros, and NaN where o is to be written
  constexpr std::int64_t b = 2, n = 6, h = 2, d = 16;
  constexpr std::size_t size = b * n * 4 * h * d * 2;
  s x;
  memory buffer(size);
  bytes host(size, 0);
  for (std::size_t row = 0; row < b * n; ++row)
    std::fill_n(host.begin() + std::ptrdiff_t((row * 4 + 3) * h * d * 2), h * d * 2, 0xff);
  buffer.write(host);
  std::size_t place = 0;
  for (auto* t : {&x.q, &x.k, &x.v, &x.o}) {
    t->dl.data = buffer.at(place++ * h * d * 2);
    std::int64_t const shape[] = {b, n, h, d}, strides[] = {n * 4 * h * d, 4 * h * d, d, 1};
    std::copy_n(shape, 4, t->shape.begin());
    std::copy_n(strides, 4, t->strides.begin());
  }
  for (auto* t : {&x.log_decay, &x.initial_state, &x.final_state}) t->given = nullptr;
  EXPECT_OK(call(x));
  CHECK(buffer.content() == bytes(size, 0));
}

TEST_CASE("nothing to write") {
  check_nothing_to_write<s>();
  s x;  // no tokens, and nobody wants the state
  for (auto* t : {&x.q, &x.k, &x.v, &x.o, &x.log_decay}) t->shape[1] = 0;
  x.initial_state.given = x.final_state.given = nullptr;
  check_nothing(x);
}

TEST_CASE("no tokens: the final state is the initial one, or 0") {
  s x;
  for (auto* t : {&x.q, &x.k, &x.v, &x.o, &x.log_decay}) t->shape[1] = 0, t->dl.data = nullptr;
  auto host = x.arena.content();
  for (std::size_t i = 0; i < state_bytes; i += 4) put_fp32(host, at_initial + i, float(i));
  x.arena.write(host);
  EXPECT_OK(call(x));
  host = x.arena.content();
  CHECK(part(host, at_final, state_bytes) == part(host, at_initial, state_bytes));
  x.initial_state.given = nullptr;
  EXPECT_OK(call(x));
  CHECK(part(x.arena.content(), at_final, state_bytes) == bytes(state_bytes, 0));
}

TEST_CASE("the final state in the initial one's place") {
  s x, in_place;
  EXPECT_OK(call(x));
  in_place.final_state.dl.data = in_place.initial_state.dl.data;
  EXPECT_OK(call(in_place));
  auto const apart = x.arena.content(), together = in_place.arena.content();
  CHECK(part(together, at_initial, state_bytes) == part(apart, at_final, state_bytes));
  CHECK(part(together, at_o, 1280) == part(apart, at_o, 1280));
}

TEST_CASE("all types") { check_types<s>(); }
TEST_CASE("queries look at no data") { check_queries<s>(); }
TEST_CASE("as many blocks as can be counted are supported") { check_most_blocks<s>(); }
TEST_CASE("a call's work is on its stream; rows more than 2^31 elements apart") {
  check_streams_and_far_rows<s>();
}
