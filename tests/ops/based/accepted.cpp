// SPDX-License-Identifier: MIT
// What must not be refused: slices of one buffer, states updated in place, no tokens, empty tensors
// without data, all types, as many blocks as can be counted.
#include "tests/ops/based/scene.hpp"

namespace {

using namespace scene;
using s = scene::based;

constexpr std::size_t state_bytes = 2 * 2 * moments * 16 * 4, sums_bytes = 2 * 2 * moments * 4;

bytes part(bytes const& host, std::size_t at, std::size_t size) {
  auto const from = host.begin() + std::ptrdiff_t(at);
  return {from, from + std::ptrdiff_t(size)};
}
// Batches (0) or heads (1); of tokens heads are the third dimension.
void set_sizes(s& x, bool heads, std::int64_t size) {
  for (auto const& argument : x.arguments()) {
    bool const of_states = says(argument.name, "_");
    argument.of->shape[!heads ? 0 : of_states ? 1 : 2] = size;
  }
}

}  // namespace

TEST_CASE("q, k, v and o are slices of one buffer") {
  // [b, n, heads of q, k, v and o in a row, d]: zeros, and NaN where o is to be written
  constexpr std::int64_t b = 2, n = 6, h = 2, d = 16;
  constexpr std::size_t size = b * n * 4 * h * d * 2;
  plain<s> x;
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
  x.initial_state.given = x.final_state.given = nullptr;
  EXPECT_OK(call(x));
  CHECK(buffer.content() == bytes(size, 0));
}

TEST_CASE("nothing to write") {
  for (bool const heads : {false, true}) {
    s x;
    set_sizes(x, heads, 0);
    check_nothing(x);
  }
  s x;  // no tokens, and nobody wants states
  for (auto* t : {&x.q, &x.k, &x.v, &x.o}) t->shape[1] = 0;
  x.final_state.given = x.final_sums.given = nullptr;
  auto const before = x.arena.content();
  EXPECT_OK(s::call(x.get()));
  CHECK(x.arena.content() == before);
}

TEST_CASE("no tokens: final states are the initial ones, or 0") {
  s x;
  for (auto* t : {&x.q, &x.k, &x.v, &x.o}) t->shape[1] = 0, t->dl.data = nullptr;
  auto host = x.arena.content();
  for (std::size_t i = 0; i < state_bytes; i += 4) put_fp32(host, at_initial + i, float(i));
  for (std::size_t i = 0; i < sums_bytes; i += 4) put_fp32(host, at_initial_sums + i, float(i));
  x.arena.write(host);
  EXPECT_OK(call(x));
  host = x.arena.content();
  CHECK(part(host, at_final, state_bytes) == part(host, at_initial, state_bytes));
  CHECK(part(host, at_final_sums, sums_bytes) == part(host, at_initial_sums, sums_bytes));
  x.initial_state.given = x.initial_sums.given = nullptr;
  EXPECT_OK(call(x));
  host = x.arena.content();
  CHECK(part(host, at_final, state_bytes) == bytes(state_bytes, 0));
  CHECK(part(host, at_final_sums, sums_bytes) == bytes(sums_bytes, 0));
}

TEST_CASE("final states in the places of initial ones") {
  s x, in_place;
  EXPECT_OK(call(x));
  in_place.final_state.dl.data = in_place.initial_state.dl.data;
  in_place.final_sums.dl.data = in_place.initial_sums.dl.data;
  EXPECT_OK(call(in_place));
  auto const apart = x.arena.content(), together = in_place.arena.content();
  CHECK(part(together, at_initial, state_bytes) == part(apart, at_final, state_bytes));
  CHECK(part(together, at_initial_sums, sums_bytes) == part(apart, at_final_sums, sums_bytes));
  CHECK(part(together, at_o, 640) == part(apart, at_o, 640));
}

TEST_CASE("all types") {
  check_types<s>();
  check_types<plain<s>>();
}
TEST_CASE("queries look at no data") { check_queries<s>(); }
TEST_CASE("as many blocks as can be counted are supported") {
  constexpr std::int64_t most = std::int64_t{1} << 26;
  s x;
  for (auto const& argument : x.arguments()) argument.of->dl.strides = nullptr;
  set_sizes(x, false, most / 2);
  EXPECT_OK(tk_supports(s::op, x.get()));
  set_sizes(x, false, most / 2 + 1);
  CHECK(tk_supports(s::op, x.get()) == TK_UNSUPPORTED);
  CHECK(says(tk_last_error(), "of all heads is 67108866; it must be at most 67108864"));
}
TEST_CASE("a call's work is on its stream; rows more than 2^31 elements apart") {
  check_streams_and_far_rows<s>();
}
